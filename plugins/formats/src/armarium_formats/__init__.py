"""Interchange formats: reads layout files into passes and writes pages to files."""
