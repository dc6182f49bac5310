"""Names of files that may be written on any system; the one rule for exports of every kind."""

from __future__ import annotations


def plain_name(title: str, longest: int = 80) -> str:
    """Return *title* as the first part of a file name on any system, at most *longest* bytes of UTF-8; "page"
    if nothing is left.
    """
    clean = "".join("_" if one in '/\\:*?"<>|' or ord(one) < 32 else one for one in title).strip(" .")
    cut = clean.encode("utf-8", "replace")[:longest].decode("utf-8", "ignore").strip(" .")
    reserved = {"con", "prn", "aux", "nul", *(f"{port}{n}" for port in ("com", "lpt") for n in range(10))}
    return f"_{cut}" if cut.split(".")[0].casefold() in reserved else cut or "page"
