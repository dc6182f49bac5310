"""The only writes of paleography: one module a noun."""
