"""What recipes answer."""
