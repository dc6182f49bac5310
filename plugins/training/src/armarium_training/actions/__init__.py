"""The writes of training, evaluation and reading at scale."""
