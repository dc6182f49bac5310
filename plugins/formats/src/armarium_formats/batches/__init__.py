"""Files that come in together: which picture and which layout file make a page, and what is read of each."""
