"""Vectors of passages: what computes them, where they are stored, and how the nearest are found."""
