"""Files imported together: which picture and which layout file form a page, and what is read of each."""
