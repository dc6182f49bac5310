"""The rules by which answers become a recipe and by which a recipe is checked."""
