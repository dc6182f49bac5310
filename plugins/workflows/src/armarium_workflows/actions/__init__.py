"""The writes of workflows: saving workflows and chains; starting, stopping and removing runs."""
