"""What the line finder's network answers: maps at a part of the page's size."""

STRIDE = 4
"""Pixels of the page for one of the maps."""
CODE = 24
"""Reach is coded as this many times the logarithm (base 2) of its pixels."""
MULTIPLE = 32
"""The sides of what the network is given are multiples of this."""
