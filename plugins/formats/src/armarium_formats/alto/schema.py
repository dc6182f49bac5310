"""The RELAX NG schema of the ALTO that we write; every export is validated against it."""

from __future__ import annotations

import re
from functools import cache

from armarium_formats.alto.profile import NAMESPACE, XLINK, elements, words
from armarium_formats.markup.schema import Schema

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_POINT = rf"{_NUMBER}[ ,]{_NUMBER}"


@cache
def schema() -> Schema:
    """Return the schema of ALTO 4.4, built on first use."""
    return Schema(
        NAMESPACE,
        "alto",
        elements(),
        words(),
        points="POINTS BASELINE",
        ids="ID",
        references=("STYLEREFS", "TAGREFS", "PROCESSINGREFS", "REF", "IDNEXT", "PROCESSING"),
        points_rule=re.compile(rf"{_POINT}(?: {_POINT})*"),
        points_words="pairs of numbers with blanks between",
        foreign={"xlink": XLINK},
        attributes_apart=True,
    )


def fits(kind: str, value: str) -> bool:
    """Return whether *value* is of the profile's type *kind*; never true if the schema says no."""
    return schema().fits(kind, value)
