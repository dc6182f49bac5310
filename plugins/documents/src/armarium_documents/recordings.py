"""Recognises imported speech recordings by their first bytes, never by name."""

from __future__ import annotations

_MPEG_LAYERS = frozenset({0xFA, 0xFB, 0xF2, 0xF3, 0xE2, 0xE3})
"""Second bytes of a frame of MPEG 1, 2 or 2.5 audio, layer 3, with and without a checksum."""


def recording_type(head: bytes) -> str | None:
    """Return the media type of a recording (WAV, FLAC, Ogg, MP3, M4A) that begins with *head*, or None."""
    if head[:4] == b"RIFF" and head[8:12] == b"WAVE":
        return "audio/wav"
    if head.startswith(b"fLaC"):
        return "audio/flac"
    if head.startswith(b"OggS"):
        return "audio/ogg"
    if head[4:8] == b"ftyp" and head[8:11] in (b"M4A", b"M4B"):
        return "audio/mp4"
    if head.startswith(b"ID3") or (len(head) > 2 and head[0] == 0xFF and head[1] in _MPEG_LAYERS):
        return "audio/mpeg"
    return None
