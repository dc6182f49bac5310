"""The reads of checking."""
