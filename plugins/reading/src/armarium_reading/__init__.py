"""Reading: the reader contract, the jobs that find lines and read them, and the episode ledger."""
