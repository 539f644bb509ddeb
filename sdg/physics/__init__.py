"""Rigid-body simulation."""
