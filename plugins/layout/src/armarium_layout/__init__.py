"""Layout without a model: regions, outlines, cells, halves of spreads, orders and drawings derived from ink
and white space.
"""
