"""Programs that pages are written for: their rules, the writing, and the validator."""
