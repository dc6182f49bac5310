"""METS: which image and layout files belong to a page, for pairing; a METS file is not a page itself."""
