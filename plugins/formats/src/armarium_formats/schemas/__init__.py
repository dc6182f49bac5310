"""Shapes of formats over HTTP and of its actions, one file a subject (B 4.5, 4.6)."""
