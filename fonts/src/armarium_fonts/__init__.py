"""Fonts for every script, in the order in which they are tried, and text shaping with them; independent of
the engine.
"""
