"""Bake-offs: what is measured on which lines, how found lines are compared, the resulting table, and its picture."""
