"""Programs for which pages are written: their rules, the writing, and the validator."""
