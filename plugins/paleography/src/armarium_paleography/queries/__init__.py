"""What is read of paleography: one module a noun."""
