"""Records, training samples, kept exports and a site of the project."""
