"""Workflows: graphs of work on pages, their runs, chains of them, and what two runs differ in."""
