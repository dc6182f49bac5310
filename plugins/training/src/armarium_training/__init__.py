"""Training of readers on corrected lines, their evaluation, and reading at scale."""
