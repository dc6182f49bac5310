"""The trainer of the engine's own small line reader; runs only in its runtime, where torch is installed."""
