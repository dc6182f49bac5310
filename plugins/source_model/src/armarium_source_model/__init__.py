"""The source model: passes, segments, readings, the counting reading and page text."""
