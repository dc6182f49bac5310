"""Request and answer models of formats, one file per subject."""
