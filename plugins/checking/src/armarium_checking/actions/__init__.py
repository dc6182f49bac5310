"""The only writes of checking."""
