"""The hand reader under two more names, so that a bake-off has three candidates of equal cost."""

from __future__ import annotations

from armarium_reader_hand.reader import HandReader


class Another(HandReader):
    """The same weights."""

    name, label = "another", "Another hand reader"


class Third(HandReader):
    """The same weights."""

    name, label = "third", "A third hand reader"
