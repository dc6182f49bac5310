"""Requests and answers of knowledge, one file a noun."""
