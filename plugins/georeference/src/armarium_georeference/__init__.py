"""Control points, transformations, world shapes and places."""
