"""Local image-text models as a reader, through transformers in a runtime of their own."""
