"""Fonts for every script, in the order in which they are tried, and text shaped with them; no part of the engine."""
