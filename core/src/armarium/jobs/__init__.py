"""Background jobs: one table, one tree, lanes, checkpoints; what runs, when, and why not yet (part A 3.3 and 4.11)."""
