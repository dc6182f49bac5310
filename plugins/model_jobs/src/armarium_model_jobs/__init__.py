"""Recipe jobs that ask a provider's model about the words and signs of pages."""
