"""What a tool answers when it cannot do what it was asked: one sentence."""

from __future__ import annotations


class ToolRefused(Exception):
    """The engine, or the tool itself, refuses; the message is what the agent is told."""
