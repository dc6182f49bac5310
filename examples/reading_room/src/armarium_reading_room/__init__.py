"""Who looked at which original, and when: an example of a stranger's family of routes."""
