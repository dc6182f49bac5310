"""hOCR: pages, lines and words as classes of HTML."""
