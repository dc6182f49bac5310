"""Shapes of formats over HTTP and of its actions, one file a subject."""
