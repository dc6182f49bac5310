"""Requests and answers of reading, one file per noun."""
