"""The only writes of knowledge, one file a noun."""
