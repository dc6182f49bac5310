"""Requests and answers of reading, a file for each noun."""
