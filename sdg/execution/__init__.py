"""Shards, commit, resume, verification and the processes that make them. Start reading at `execute.py`."""
