"""The background work of training, evaluation and reading at scale."""
