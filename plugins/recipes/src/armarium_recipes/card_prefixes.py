"""How ids of cards begin; imported by the command line as well, so it imports nothing."""

LINE_READER = "linereader:"
