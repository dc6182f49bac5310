"""Loading plugins."""
