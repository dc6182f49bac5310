"""Small text files of boxes and points: detection labels, boxes of characters, control points of a map."""
