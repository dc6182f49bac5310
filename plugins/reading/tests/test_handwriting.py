"""Pages written by hand are told from print by their ink; real pages when the shared data are there."""
