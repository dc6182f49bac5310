"""Trains and measures the line finder: pages composed of real lines, and pages whose lines people drew."""
