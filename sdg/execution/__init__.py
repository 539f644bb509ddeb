"""Shards, commit, resume, verification and the processes that make them."""
