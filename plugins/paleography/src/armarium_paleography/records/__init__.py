"""The nouns of paleography: hands, campaigns, editorial facts, signs, letterforms, and proposals by similarity."""
