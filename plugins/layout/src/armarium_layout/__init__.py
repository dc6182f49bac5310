"""Layout without a model: regions, shapes, cells, halves, orders and drawings worked out from ink and white space."""
