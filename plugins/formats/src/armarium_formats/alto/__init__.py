"""ALTO: the reader of 1 to 4.4 in every unit, the strict writer of 4.4 in pixels, and our own schema of what is written."""
