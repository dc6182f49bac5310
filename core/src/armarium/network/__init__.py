"""The one gate to the network."""
