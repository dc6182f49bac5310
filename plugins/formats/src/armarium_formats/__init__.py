"""Interchange formats: PAGE XML in and out, plain text out."""
