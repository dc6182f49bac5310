"""A reader for hands: kraken in its own runtime."""
