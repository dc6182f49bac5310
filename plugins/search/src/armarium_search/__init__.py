"""Full text, vectors and saved searches."""
