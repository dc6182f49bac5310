"""Requests and answers of workflows, chains and runs."""
