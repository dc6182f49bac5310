"""Reads of documents, one file a noun: SQL that selects columns, never objects."""
