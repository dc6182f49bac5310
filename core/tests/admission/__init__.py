"""Letting plugins in."""
