"""Vectors of passages: who makes them, where they lie, and how the nearest are found."""
