"""What recipes know without asking anyone: jobs, purposes, topics, languages, scripts, and what is true of this machine."""
