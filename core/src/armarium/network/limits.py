"""Limits of one request to the network."""

from __future__ import annotations

from dataclasses import dataclass

MIB = 1024 * 1024


@dataclass(frozen=True)
class Limits:
    """Bounds of one request: bytes of the answer's body, seconds in all, seconds of silence."""

    max_bytes: int = 64 * MIB
    seconds: float = 60.0
    silence: float = 30.0
