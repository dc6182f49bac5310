"""The actions of the source model, one file per noun."""
