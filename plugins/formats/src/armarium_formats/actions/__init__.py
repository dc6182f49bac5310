"""The actions of formats, one file per subject."""
