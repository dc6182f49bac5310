"""Runtimes: isolated environments for engines whose dependencies exclude each other, their workers, and what of the machine they may use."""
