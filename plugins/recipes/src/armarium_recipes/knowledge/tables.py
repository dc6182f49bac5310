"""Opens the tables shipped with recipes: compressed rows of tab-separated fields. Their meaning is described
where they are used.
"""

from __future__ import annotations

import gzip
from importlib.resources import files


def table_lines(name: str) -> list[str]:
    """Return the rows of the table *name*, such as `scripts`, unparsed."""
    packed = (files(__package__) / f"{name}.tsv.gz").read_bytes()
    return gzip.decompress(packed).decode("utf-8").splitlines()
