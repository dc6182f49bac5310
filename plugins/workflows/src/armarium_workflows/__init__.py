"""Workflows: graphs of work on pages, their runs, chains of them, and comparisons of two runs."""
