"""The trainer of the engine's own small line reader; runs in its runtime, where torch is, and nowhere else."""
