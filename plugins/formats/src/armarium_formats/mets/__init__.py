"""METS: which image and which layout files belong to a page, for pairing; a METS file is no page itself."""
