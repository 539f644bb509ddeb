"""Job files that run."""
