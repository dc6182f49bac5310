"""Request and answer models of documents, one file per noun."""
