"""The hand reader under further names, so that a bake-off has five candidates that take equally long."""

from __future__ import annotations

from armarium_reader_hand.reader import HandReader


class Another(HandReader):
    """The same weights, declared as a reader of print."""

    name, label = "another", "Another hand reader"
    writing = frozenset({"print"})


class Second(Another):
    """Another copy."""

    name, label = "second", "A second hand reader"


class Third(Another):
    """Another copy."""

    name, label = "third", "A third hand reader"


class Upright(Another):
    """The copy that competes with the best three as a reader of print."""

    name, label = "upright", "A hand reader for print"


class Whole(HandReader):
    """The copy that reads both handwriting and print."""

    name, label = "whole", "A hand reader for all"
    writing = frozenset({"hand", "print"})


READERS = (Another, Second, Third, Upright, Whole)
