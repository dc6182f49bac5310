"""Reads of training: jobs, sets, models, scores."""
