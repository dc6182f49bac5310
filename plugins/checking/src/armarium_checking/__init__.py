"""Verdicts on proposals: what a reader, model or person made is confirmed, corrected or rejected."""
