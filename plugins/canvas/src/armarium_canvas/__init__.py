"""Canvas: the layout of the cards, notes and links of a folder, and its picture."""
