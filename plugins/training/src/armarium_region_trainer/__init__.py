"""The trainer of layout detectors, and the detector itself; runs in its runtime, where torch is, and nowhere else."""
