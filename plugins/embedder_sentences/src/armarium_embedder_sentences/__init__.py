"""Models of the sentence-transformers library as an embedder, in a runtime of their own."""
