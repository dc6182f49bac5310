"""The RELAX NG of the ALTO that we write, and the check that every export passes before it is given out."""

from __future__ import annotations

import re
from functools import cache

from armarium_formats.alto.profile import NAMESPACE, XLINK, elements, words
from armarium_formats.markup.schema import Schema

_NUMBER = r"-?[0-9]+(?:\.[0-9]+)?"
_POINT = rf"{_NUMBER}[ ,]{_NUMBER}"


@cache
def schema() -> Schema:
    """The schema of ALTO 4.4, made when it is first asked for."""
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
    """Whether *value* is of the profile's type *kind*; never says yes where the schema says no."""
    return schema().fits(kind, value)
