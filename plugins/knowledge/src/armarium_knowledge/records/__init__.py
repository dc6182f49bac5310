"""The nouns of knowledge, each declared once: what is sent, stored and answered."""
