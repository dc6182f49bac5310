"""PAGE XML: the reader of 2010 to 2019, the strict writer of 2019-07-15, and our own schema of what is written."""
