"""Handwritten routes: for what is the same in every project, and for files."""
