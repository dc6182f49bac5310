"""Descriptions of documents as a table: written, and compared with one that is to be taken in."""
