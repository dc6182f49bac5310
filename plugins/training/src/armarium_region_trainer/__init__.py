"""The trainer of layout detectors, and the detector itself; runs only in its runtime, where torch is installed."""
