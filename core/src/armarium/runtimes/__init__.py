"""Runtimes: isolated environments for engines whose dependencies exclude each other (architecture 6)."""

from armarium.runtimes.plugin import core_runtimes_plugin
from armarium.runtimes.registry import Runtimes, RuntimeState
from armarium_worker import Runtime

__all__ = ["Runtime", "RuntimeState", "Runtimes", "core_runtimes_plugin"]
