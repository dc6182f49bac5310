"""What recipes know without asking anyone: jobs, purposes, topics, languages, scripts, and facts about this machine."""
