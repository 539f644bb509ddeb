"""Camera and sensor models."""
