"""The only way to the network."""
