"""The only writes of finding, a file for each noun."""
