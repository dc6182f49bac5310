"""The reads of recipes."""
