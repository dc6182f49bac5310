"""Reads of formats, one file a subject."""
