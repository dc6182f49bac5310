"""The request and response models of the source model, one file a noun."""
