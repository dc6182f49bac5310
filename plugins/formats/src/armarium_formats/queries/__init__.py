"""The queries of formats, one file per subject."""
