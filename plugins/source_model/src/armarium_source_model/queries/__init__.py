"""The queries of the source model, one file per noun; they write nothing."""
