"""Reads of searching: pages by their words, other kinds of hits, saved searches."""
