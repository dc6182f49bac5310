"""A reader for handwriting: kraken in its own runtime."""
