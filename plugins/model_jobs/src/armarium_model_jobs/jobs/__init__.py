"""One module for each sort of work; `asking` is what all of them share."""
