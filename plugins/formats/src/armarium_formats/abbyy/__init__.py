"""ABBYY FineReader XML: pages of blocks, paragraphs, lines and single characters."""
