"""The writes of recipes."""
