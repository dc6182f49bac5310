"""The project's measurements: one script a measurement, the engine and its peer side by side in one run."""
