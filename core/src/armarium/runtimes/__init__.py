"""Runtimes: isolated environments for engines with conflicting dependencies, their workers, and their share of the
machine.
"""
