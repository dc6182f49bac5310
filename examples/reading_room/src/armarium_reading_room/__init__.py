"""Who looked at which original, and when: an example of a family of routes."""
