"""Reads of searching: pages by their words, what stands beside them, saved searches."""
