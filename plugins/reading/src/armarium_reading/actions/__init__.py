"""The writes of reading, a file for each noun."""
