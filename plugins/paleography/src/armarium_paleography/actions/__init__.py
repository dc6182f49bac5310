"""The only writes of paleography, one module per noun."""
