"""Requests and answers of knowledge, one file per noun."""
