"""The long work of recipes."""
