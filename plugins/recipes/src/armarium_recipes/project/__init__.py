"""The project's recipe: saved, kept in files, planned, started and run."""
