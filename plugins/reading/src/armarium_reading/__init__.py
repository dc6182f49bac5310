"""Reading: the reader contract, finding lines and reading them as jobs, the episode ledger."""
