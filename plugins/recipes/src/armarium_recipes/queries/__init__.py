"""Reads of recipes."""
