"""Reads of knowledge, one file per noun."""
