"""The writes of finding, one file per noun."""
