"""Reads of reading, one file per noun."""
