"""Reads of knowledge, one file a noun."""
