"""Which pages make a document: proposed by rules, judged by people."""
