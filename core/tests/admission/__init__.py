"""Tests of the admission of plugins."""
