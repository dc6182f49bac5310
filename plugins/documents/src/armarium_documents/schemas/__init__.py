"""Request and response models of documents, one file a noun."""
