"""The writes of formats, one file a subject."""
