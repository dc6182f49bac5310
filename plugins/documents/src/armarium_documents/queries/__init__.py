"""The queries of documents, one file per noun; the SQL selects columns, not objects."""
