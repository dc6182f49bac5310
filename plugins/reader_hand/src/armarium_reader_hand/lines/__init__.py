"""The line finder: a small network that draws the baselines of a page, and what makes lines of them."""
