"""Bake-offs: who is measured on which lines, how found lines are compared, the table that comes of it, and its picture."""
