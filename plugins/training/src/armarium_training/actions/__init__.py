"""The only writes of training, evaluation and reading at scale."""
