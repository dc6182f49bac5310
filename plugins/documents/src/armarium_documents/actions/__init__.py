"""The only writes of documents, one file a noun."""
