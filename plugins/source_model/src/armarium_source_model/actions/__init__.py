"""The only writes of the source model, one file a noun."""
