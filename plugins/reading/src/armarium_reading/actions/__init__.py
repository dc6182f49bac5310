"""The writes of reading, one file per noun."""
