"""The queries of paleography, one module per noun."""
