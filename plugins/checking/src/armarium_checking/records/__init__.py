"""The nouns of checking: verdicts and runs of checkers, samples of an error rate, and errors that are proposed."""
