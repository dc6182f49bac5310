"""The writes of IIIF."""
