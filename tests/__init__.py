"""The tests; `tests/test_run.py` is the end-to-end one."""
