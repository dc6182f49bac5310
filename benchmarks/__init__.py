"""The project's measurements: one script each, the engine and its peer side by side in one run."""
