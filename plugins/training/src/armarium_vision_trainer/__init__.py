"""The workers of vision models: training with low-rank adapters, and conversion to 4 bits; run in a runtime with PyTorch."""
