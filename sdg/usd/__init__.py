"""From USD stages to scenes."""
