"""Documents: nodes, folders, pages, renditions, import of page images, trash."""
