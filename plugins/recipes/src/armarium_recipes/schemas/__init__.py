"""Requests and answers of recipes."""
