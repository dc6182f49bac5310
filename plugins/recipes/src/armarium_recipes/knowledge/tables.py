"""Opens the tables that ship with recipes: rows of fields parted by tabs, packed. What they mean is said where they are used."""

from __future__ import annotations

import gzip
from importlib.resources import files


def table_lines(name: str) -> list[str]:
    """The rows of the table *name*, such as `scripts`, each as it stands there."""
    packed = (files(__package__) / f"{name}.tsv.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8").splitlines()
