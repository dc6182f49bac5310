"""The writes of knowledge, one file per noun."""
