"""Answers, with the steps, cards and reasons of the recipe that should follow from them, given the shelf of
`rules_shelf`.

Written by hand from the specified rules, never copied from what the code answers.
"""

from __future__ import annotations

from typing import Any

HAND, RAPID, FIT = "linereader:hand@1", "rapidocr:small@1", "builtin:fitting@1"
ZENODO = "linereader:10.5281/zenodo.{}@1"
EYES, WORDS = "cloud:Reader/eyes@served", "cloud:Writer/words@served"
LINES, NAMES = "builtin:find-lines@1", "builtin:find-names-tag-words@1"
GAP = None
"""Stands for a card: the step has a gap."""

Case = tuple[str, dict[str, Any], dict[str, str | None], dict[str, str]]


def case(name: str, answers: dict[str, Any], cards: dict[str, str | None], **said: str) -> Case:
    """Return a case: answers, the expected card of each named step, and for some steps a part of their reasons or gap."""
    plain = {"purposes": ["transcribe"], "languages": ["fr"], "scripts": ["Latn"], "memory_gb": 16.0}
    return name, {**plain, **answers}, cards, {key.replace("_", "-"): words for key, words in said.items()}


def _of(*languages: str, script: str = "Latn", material: str = "handwriting", **more: Any) -> dict[str, Any]:
    return {"languages": list(languages), "scripts": [script], "materials": [material], **more}


def _with_jobs(*jobs: str, **more: Any) -> dict[str, Any]:
    return {"purposes": ["not-sure"], "jobs": list(jobs), **more}


CASES: list[Case] = [
    case("a French hand", _of("fr"), {"split": "builtin:split-pages@1", "find-lines": LINES, "read": HAND, "correct": GAP},
         read="lowest known error rate", correct="may not leave", split="open book", find_lines="only one"),
    case("a Latin hand takes the better reader of the repository", _of("la"), {"read": ZENODO.format(102)},
         read="faster"),
    case("Latin and Old French: the one that names both", _of("la", "fro"), {"read": ZENODO.format(101)}, read="8.2 of 100"),
    case("Latin and French", _of("la", "fr"), {"read": HAND}, read="25.8 of 100"),
    case("an Arabic hand", _of("ar", script="Arab"), {"read": ZENODO.format(100)}, read="only one"),
    case("an Arabic hand in small letters", _of("ar", script="arab"), {"read": ZENODO.format(100)}),
    case("a Persian hand", _of("fa", script="Arab"), {"read": ZENODO.format(100)}, read="Persian"),
    case("an Urdu hand: nobody", _of("ur", script="Arab"), {"read": GAP}, read="may not leave"),
    case("an Urdu hand, pages may leave", _of("ur", script="Arab", cloud_allowed=True), {"read": EYES}, read="only one"),
    case("Arabic print", _of("ar", script="Arab", material="print"), {"read": "tesseract:ara@1"}),
    case("Russian print", _of("ru", script="Cyrl", material="print"), {"read": "tesseract:rus@1"}),
    case("a Russian hand", _of("ru", script="Cyrl"), {"read": GAP}, read="may not leave"),
    case("Hebrew print", _of("he", script="Hebr", material="print"), {"read": "tesseract:heb@1"}),
    case("a Hebrew hand: the cloud is nearer than a licence", _of("he", script="Hebr"), {"read": GAP}, read="may not leave"),
    case("a Greek hand, little memory", _of("grc", script="Grek"), {"read": GAP}, read="24 GB"),
    case("a Greek hand, much memory", _of("grc", script="Grek", memory_gb=64.0), {"read": ZENODO.format(104)}),
    case("a Greek hand, exactly enough memory", _of("grc", script="Grek", memory_gb=26.0), {"read": ZENODO.format(104)}),
    case("a German hand: what is not here is not taken", _of("de"), {"read": GAP}),
    case("German type", _of("de", material="print"), {"read": RAPID}, read="only one"),
    case("Fraktur", _of("de", script="Latf", material="print"), {"read": "tesseract:deu_latf@1"}),
    case("a Dutch hand: a record that says too little is not taken", _of("nl"), {"read": GAP}),
    case("English typescript", _of("en", material="typescript"), {"read": RAPID}, read="faster"),
    case("English print", _of("en", material="print"), {"read": RAPID}, read="faster"),
    case("Spanish print", _of("es", material="print"), {"read": RAPID}, read="faster"),
    case("Chinese print", _of("zh", script="Hans", material="print"), {"read": RAPID}),
    case("Japanese print", _of("ja", script="Jpan", material="print"), {"read": RAPID}, read="Japanese"),
    case("print and hands together", {"materials": ["print", "handwriting"]}, {"read": FIT}, read="only one"),
    case("a region does not matter", _of("fr-CA"), {"read": HAND}, read="French"),
    case("the code with three letters", _of("fra"), {"read": HAND}, read="French"),
    case("a language that no reader names beside one that it does", _of("fr", "nci"), {"read": HAND}, read="not made for"),
    case("it reads the language it names, whichever came first", _of("nci", "es"), {"read": HAND}, read="Spanish"),
    case("two scripts: a step for each", {"languages": ["ar", "fr"], "scripts": ["Arab", "Latn"], "materials": ["print"]},
         {"find-lines": LINES, "read": "tesseract:ara@1", "read-latn": RAPID}, read="Arabic", read_latn="for the folders"),
    case("two scripts, one reader", {"languages": ["zh", "en"], "scripts": ["Hans", "Latn"], "materials": ["print"]},
         {"read": RAPID}, read="Chinese"),
    case("two scripts, one that nobody reads", {"languages": ["ru", "fr"], "scripts": ["Cyrl", "Latn"]},
         {"read": HAND, "read-cyrl": GAP}),
    case("text", _of("fr", material="text", purposes=["statements"]),
         {"names": NAMES, "statements": GAP}, names="already text", statements="may not leave"),
    case("text to be transcribed: nothing to do", _of("fr", material="text"), {}),
    case("text and a hand", {"materials": ["text", "handwriting"]}, {"find-lines": LINES, "read": HAND}),
    case("names", {"purposes": ["entities"]}, {"read": HAND, "names": NAMES}, names="found in what was read"),
    case("names alone need what is read", {"purposes": ["not-sure"], "jobs": ["find-names-tag-words"]},
         {"find-lines": LINES, "read": HAND, "names": NAMES}, names="by name", read="names works on", find_lines="read works on"),
    case("statements with a service", {"purposes": ["statements"], "cloud_allowed": True},
         {"correct": WORDS, "names": WORDS, "statements": WORDS}, names="does the whole work", statements="only one"),
    case("search: nobody makes vectors", {"purposes": ["search"]}, {"vectors": GAP}, vectors="Make a vector"),
    case("a knowledge graph", {"purposes": ["knowledge-graph"]},
         {"dates": "builtin:work-out-dates@1", "authorities": "builtin:link-to-authorities@1", "statements": GAP},
         dates="French", authorities="Name the authority file"),
    case("a map", {"purposes": ["map-places"]}, {"places": "builtin:place-in-a-gazetteer@1"}, places="gazetteer file"),
    case("tables", {"purposes": ["tables"]},
         {"find-lines": LINES, "find-regions": "builtin:find-regions@1", "cells": "builtin:find-a-tables-cells@1",
          "read": HAND, "table": GAP}, table="columns are those", cells="before they are read", find_regions="white space between"),
    case("tools", {"purposes": ["edit-corpus"]}, {"find-lines": LINES, "read": HAND}, find_lines="knowing where they are"),
    case("nothing yet", {"purposes": ["not-sure"]}, {}),
    case("two purposes, each step once", {"purposes": ["transcribe", "entities"]}, {"read": HAND, "names": NAMES},
         read="Transcribe", names="Find persons and places"),
    case("a layer", {"purposes": ["not-sure"], "layers": ["places"]}, {"places": "builtin:place-in-a-gazetteer@1", "names": NAMES},
         places="layer places", names="places works on"),
    case("files", {"jobs": ["export", "publish"]}, {"export": "builtin:export@1", "publish": "builtin:publish@1"},
         export="folder to write into", publish="folder of the site"),
    case("a page less than a training", {"pages": 4_999}, {"read": HAND, "split": "builtin:split-pages@1"}),
    case("pages enough for a training", {"pages": 5_000}, {"train": "builtin:train-a-model@1"}, train="5,000 pages"),
    case("a reader that cannot be trained", _of("en", material="print", pages=9_000), {"read": RAPID}),
    case("a translation on this machine before one that costs as little elsewhere",
         {"purposes": ["translate-normalise"], "cloud_allowed": True}, {"translate": "local-server:Own/words@served"},
         translate="runs on this machine"),
    case("passages by the cheaper service", {"purposes": ["quotations"], "cloud_allowed": True},
         {"passages": "cloud:Cheap/words@served"}, passages="costs less"),
    case("a catalogue with less energy", {"purposes": ["catalogue"]}, {"catalogue": "any:lean@1"}, catalogue="less energy"),
    case("whole pages by the smaller reader", _with_jobs("read-a-page"), {"read-pages": "any:small@1"},
         read_pages="is smaller"),
    case("whole pages are read as what they are written in", _with_jobs("read-a-page"), {}, read_pages="read as French"),
    case("speech by the first of twins", _with_jobs("transcribe-speech"), {"speech": "any:twin-a@1"}, speech="do not differ"),
    case("entries by what can be trained", _with_jobs("split-into-entries"), {"entries": "any:pupil@1"},
         entries="can be trained further"),
    case("signs are found by examples", _with_jobs("find-signs"), {"find-signs": "builtin:find-signs@1"},
         find_signs="Name examples"),
]  # fmt: skip

NEEDED: dict[str, tuple[str, ...]] = {
    "prepare-the-image": ("prepare",),
    "split-pages": ("split",),
    "find-lines": ("split", "find-lines"),
    "find-regions": ("split", "find-lines", "find-regions"),
    "put-in-order": ("split", "find-lines", "put-in-order"),
    "refine-shapes": ("split", "find-lines", "refine-shapes"),
    "find-signs": ("find-signs",),
    "find-a-tables-cells": ("split", "find-lines", "find-regions", "cells"),
    "read-a-line": ("split", "find-lines", "read"),
    "read-a-page": ("read-pages",),
    "tie-text-to-lines": ("split", "find-lines", "tie-text"),
    "correct": ("split", "find-lines", "read", "correct"),
    "trace-a-drawing": ("split", "find-lines", "find-regions", "trace"),
    "identify-signs": ("find-signs", "identify-signs"),
    "transcribe-speech": ("speech",),
    "translate-transliterate-normalise": ("split", "find-lines", "read", "translate"),
    "find-documents-in-a-folder": ("split", "find-lines", "read", "find-documents"),
    "split-into-entries": ("split", "find-lines", "read", "entries"),
    "extract-to-a-table": ("split", "find-lines", "read", "table"),
    "find-names-tag-words": ("split", "find-lines", "read", "names"),
    "work-out-dates": ("split", "find-lines", "read", "names", "dates"),
    "find-statements": ("split", "find-lines", "read", "names", "statements"),
    "link-to-authorities": ("split", "find-lines", "read", "names", "authorities"),
    "place-in-a-gazetteer": ("split", "find-lines", "read", "names", "places"),
    "make-a-vector": ("split", "find-lines", "read", "vectors"),
    "describe-for-the-catalogue": ("split", "find-lines", "read", "catalogue"),
    "pull-out-passages": ("split", "find-lines", "read", "passages"),
    "train-a-model": ("split", "find-lines", "read", "train"),
    "check": ("split", "find-lines", "read", "check"),
    "export": ("export",),
    "publish": ("publish",),
}
"""All steps of the recipe for a single piece of work: the work and everything it needs, when nothing exists yet."""

LAYERS: dict[str, tuple[str, ...]] = {
    "prepare": ("prepare", "split"),
    "lines": ("split", "find-lines"),
    "reading": ("split", "find-lines", "read", "correct"),
    "structure": ("split", "find-lines", "read", "entries"),
    "entities": ("split", "find-lines", "read", "names"),
    "graph": ("split", "find-lines", "read", "names", "dates", "statements", "authorities"),
    "places": ("split", "find-lines", "read", "names", "places"),
    "vectors": ("split", "find-lines", "read", "vectors"),
    "catalogue": ("split", "find-lines", "read", "catalogue"),
    "knowledge": ("split", "find-lines", "read", "passages"),
    "train": ("split", "find-lines", "read", "train"),
    "check": ("split", "find-lines", "read", "check"),
    "output": ("export", "publish"),
}
"""All steps of the recipe for a single layer."""

ABSENT: dict[str, tuple[str, ...]] = {
    "text": ("split", "find-lines", "read", "correct"),
    "text to be transcribed: nothing to do": ("split", "find-lines", "read", "correct"),
    "nothing yet": ("split", "find-lines", "read", "correct"),
    "a page less than a training": ("train",),
    "a reader that cannot be trained": ("train",),
    "tools": ("correct",),
    "two scripts: a step for each": ("read-arab",),
    "two scripts, one reader": ("read-hans", "read-latn"),
}
"""Steps that a recipe must not contain."""

ORDER = [
    "prepare", "split", "find-lines", "find-regions", "put-in-order", "refine-shapes", "find-signs", "cells", "read", "read-arab",
    "read-cyrl", "read-latn", "read-pages", "tie-text", "correct", "trace", "identify-signs", "speech", "translate",
    "find-documents", "entries", "table", "names", "dates", "statements", "authorities", "places", "vectors", "catalogue",
    "passages", "train", "check", "export", "publish",
]  # fmt: skip
"""The order of all the steps above."""
