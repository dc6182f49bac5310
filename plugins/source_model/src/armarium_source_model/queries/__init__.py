"""The reads of the source model, one file a noun; they write nothing."""
