"""Cards of models: where they are collected from, and in which order the rules take them."""
