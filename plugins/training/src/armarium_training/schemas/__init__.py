"""Requests and answers of training, evaluation and reading at scale."""
