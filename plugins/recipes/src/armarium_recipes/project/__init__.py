"""The project's recipe: saved, written to files, planned, started and run."""
