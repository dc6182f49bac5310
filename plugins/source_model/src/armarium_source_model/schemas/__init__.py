"""Request and answer models of the source model, one file per noun."""
