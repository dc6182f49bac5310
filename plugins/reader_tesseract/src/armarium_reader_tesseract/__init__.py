"""A reader for print: Tesseract through tesserocr."""
