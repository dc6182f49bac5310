"""Verdicts on proposals: what a reader, a model or a person has made, confirmed, corrected or rejected."""
