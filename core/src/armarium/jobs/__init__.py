"""Background jobs: one table, one tree, lanes, checkpoints; what runs, when, and why not yet."""
