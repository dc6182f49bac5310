"""The long jobs of recipes."""
