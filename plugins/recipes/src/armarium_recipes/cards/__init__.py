"""Cards of models: where they are collected from, and the order in which the rules choose them."""
