"""Many pages as one file, a page at a time: headings from the tree, folio labels, footnotes, and what was not read."""
