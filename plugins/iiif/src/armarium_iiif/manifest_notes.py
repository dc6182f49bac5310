"""The sentences about what of a manifest was left out or decided."""

from __future__ import annotations

from collections import Counter
from typing import Final

_NOTES: Final = {
    "not-a-canvas": (
        "1 entry in the list of canvases is not a canvas",
        "{} entries in the list of canvases are not canvases",
        "left out",
    ),
    "no-canvas-id": (
        "1 canvas has no usable id",
        "{} canvases have no usable id",
        "its lines are given under ours",
    ),
    "same-id": (
        "1 canvas has the id of an earlier one",
        "{} canvases have the id of an earlier one",
        "left out",
    ),
    "no-size": (
        "1 canvas has no usable size",
        "{} canvases have no usable size",
        "known once the picture is fetched",
    ),
    "no-picture": ("1 canvas has no picture", "{} canvases have no picture", "nothing can be fetched for it"),
    "several-pictures": (
        "1 canvas is composed of several pictures",
        "{} canvases are composed of several pictures",
        "the first is referenced",
    ),
    "choice": (
        "1 canvas offers several pictures to choose from",
        "{} canvases offer several pictures to choose from",
        "the first is referenced; the others are only in the manifest, which is kept",
    ),
    "annotations-elsewhere": (
        "1 list of annotations, which may be a transcription, is at an address of its own",
        "{} lists of annotations, which may be transcriptions, are at addresses of their own",
        "not fetched; the addresses are in the manifest, which is kept",
    ),
    "see-also": (
        "1 file with the text of a canvas (seeAlso) is at an address of its own",
        "{} files with the text of a canvas (seeAlso) are at addresses of their own",
        "not fetched; download them from the addresses in the manifest and import each into its page",
    ),
    "rendering": (
        "1 other form of the object, such as a PDF (rendering)",
        "{} other forms of the object, such as a PDF (rendering)",
        "only in the manifest, which is kept",
    ),
    "no-transcription": (
        "1 annotation is a comment, tag or link and no transcription",
        "{} annotations are comments, tags or links and no transcription",
        "only in the manifest, which is kept",
    ),
    "words": (
        "1 annotation of a word or letter repeats part of a line",
        "{} annotations of words or letters repeat parts of lines",
        "left out",
    ),
    "many-annotations": (
        "1 canvas has more than 20,000 annotations",
        "{} canvases have more than 20,000 annotations",
        "the rest is only in the manifest, which is kept",
    ),
    "address": (
        "1 address is not a web address (http or https)",
        "{} addresses are not web addresses (http or https)",
        "left out",
    ),
    "sequence": ("1 further sequence of pages", "{} further sequences of pages", "the first is imported"),
    "range": (
        "1 range (table of contents)",
        "{} ranges (table of contents)",
        "only in the manifest, which is kept",
    ),
}
"""What was left out or decided: for one, for several, and what became of it."""


def count_sentences(counted: Counter[str]) -> list[str]:
    """Return a sentence for each thing that was counted."""
    return [
        f"{single if counted[what] == 1 else many.format(counted[what])}: {became}."
        for what, (single, many, became) in _NOTES.items()
        if counted[what]
    ]
