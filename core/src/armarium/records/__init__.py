"""Nouns of a family, each declared once: its fields, from which its table and its answers derive."""
