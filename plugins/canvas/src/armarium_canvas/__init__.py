"""Canvas: where the cards, notes and links of a folder lie, and the picture of it."""
