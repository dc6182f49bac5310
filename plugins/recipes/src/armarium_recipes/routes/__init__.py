"""Routes that are written by hand: what is the same for every project, and files."""
