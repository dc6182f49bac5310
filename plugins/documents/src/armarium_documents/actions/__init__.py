"""The actions of documents, one file per noun."""
