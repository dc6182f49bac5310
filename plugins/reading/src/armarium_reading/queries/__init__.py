"""Reads of reading, a file for each noun."""
