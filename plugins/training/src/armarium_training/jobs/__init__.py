"""The long work of training, evaluation and reading at scale."""
