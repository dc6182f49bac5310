"""The hand reader under more names, so that a bake-off has five candidates that work equally hard."""

from __future__ import annotations

from armarium_reader_hand.reader import HandReader


class Another(HandReader):
    """The same weights, as a reader of print."""

    name, label = "another", "Another hand reader"
    writing = frozenset({"print"})


class Second(Another):
    """One more."""

    name, label = "second", "A second hand reader"


class Third(Another):
    """One more."""

    name, label = "third", "A third hand reader"


class Upright(Another):
    """The one that stands beside the best three as a reader of print."""

    name, label = "upright", "A hand reader for print"


class Whole(HandReader):
    """The line reader among them: it reads hands too."""

    name, label = "whole", "A hand reader for all"
    writing = frozenset({"hand", "print"})


READERS = (Another, Second, Third, Upright, Whole)
