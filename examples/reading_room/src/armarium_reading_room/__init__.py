"""Who looked at which original, and when: an example of a third-party family of routes."""
