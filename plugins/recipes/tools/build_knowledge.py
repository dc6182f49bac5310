"""Builds the tables of languages and scripts that ship with recipes, from packages that contain the standards.

Not part of the plugin: it is run by hand when the standards have changed, in an environment of its own.

    python -m venv /tmp/env && /tmp/env/bin/pip install langcodes language_data python-iso639 qwanqwa
    npm pack iso-15924 && tar xzf iso-15924-*.tgz        # the folder `package`
    /tmp/env/bin/python plugins/recipes/tools/build_knowledge.py package

`SOURCES.md` beside the tables states what is taken from which package, and under which licence.
"""

from __future__ import annotations

import csv
import gzip
import json
import re
import sys
import unicodedata
from collections.abc import Iterable, Iterator, Mapping
from importlib.resources import files
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent.parent / "src" / "armarium_recipes" / "knowledge"
NAMED_IN = ("en", "de", "es", "fr", "it", "nl", "pl", "pt", "ru", "ar", "ja", "zh")
"""The languages whose names of languages can be searched, besides a language's name for itself."""
ALSO_CALLED = {
    "lad": ("Judeo-Spanish", "Judaeo-Spanish", "judeoespañol", "judéo-espagnol", "Judenspanisch", "Judezmo"),
    "gez": ("Ge'ez", "Ge’ez"),
    "ang": ("Anglo-Saxon",),
    "gla": ("Scots Gaelic",),
    "nds": ("Plattdeutsch", "Low Saxon"),
    "fas": ("Farsi",),
}
"""What catalogues and people call languages, and none of the sources does."""

VERTICAL = {
    "Hani",
    "Hans",
    "Hant",
    "Hanb",
    "Hira",
    "Kana",
    "Hrkt",
    "Jpan",
    "Hang",
    "Kore",
    "Bopo",
    "Mong",
    "Phag",
    "Ougr",
    "Sogd",
    "Tang",
    "Kits",
    "Nshu",
    "Jurc",
    "Kitl",
    "Egyp",
}
"""Scripts that are, or were, written in columns as well as in lines."""
IN_COLUMNS = {"Mong": "ttb-lr", "Phag": "ttb-lr", "Ougr": "ttb-lr"}
"""Scripts usually written in columns, which follow each other from left to right."""
LIKE = {
    "Hans": "Hani",
    "Hant": "Hani",
    "Hanb": "Hani",
    "Jpan": "Hani",
    "Hrkt": "Hira",
    "Kore": "Hang",
    "Jamo": "Hang",
    "Latf": "Latn",
    "Latg": "Latn",
    "Cyrs": "Cyrl",
    "Aran": "Arab",
    "Syre": "Syrc",
    "Syrj": "Syrc",
    "Syrn": "Syrc",
}
"""Variants without letters of their own in Unicode, and the script whose letters they use."""


SCRIPT = {"grc": "Grek"}
"""Corrections where CLDR gives the oldest script as the likeliest."""


def main(scripts_package: Path) -> None:
    """Write both tables."""
    languoids = _languoids()
    rows = [*_languages(languoids), *_without_iso(languoids), *_dialects(languoids)]
    lines = ["\t".join(row) for row in sorted(set(rows), key=_usual_first)]
    replaced = "\n".join(f"{old}\t{new}" for old, new in sorted(_read_replacements().items()))
    _write("languages.tsv.gz", "\n".join(lines) + "\n")
    _write("replaced.tsv.gz", replaced + "\n")
    _write("scripts.tsv.gz", "".join("\t".join(row) + "\n" for row in _scripts(scripts_package)))


def _usual_first(row: tuple[str, ...]) -> tuple[object, ...]:
    """Sort languages with a short tag first, then those with any tag, then the others, then dialects; each by
    name.
    """
    code, _, _, level, name, *_ = row
    return level == "dialect", len(code) or 9, name.casefold(), row


def _write(name: str, text: str) -> None:
    data = gzip.compress(text.encode("utf-8"), 9, mtime=0)
    (HERE / name).write_bytes(data)
    print(f"{name}: {text.count(chr(10))} rows, {len(data)} bytes")


def _tab(name: str) -> Iterator[dict[str, str]]:
    with (files("iso639") / "_data" / name).open(encoding="utf-8") as file:
        yield from csv.DictReader(file, delimiter="\t")


def _languoids() -> dict[str, dict[str, Any]]:
    with (files("qq") / "data" / "db.json.gz").open("rb") as file:
        database = json.loads(gzip.decompress(file.read()))
    return {key: entity for key, entity in database["entities"].items() if entity["__class__"] == "Languoid"}


def _row(
    code: str, codes: Iterable[str], glottocode: str | None, level: str, name: str, others: Iterable[str]
) -> tuple[str, ...]:
    """Return code, other codes, glottocode, level, name, other names; lists are separated by `|`.

    A language of ISO 639-3 is followed by its usual script, a dialect by the Glottocode of its language.
    """
    plain = [one for one in dict.fromkeys(_plain(one) for one in others) if one and one != name]
    return (code, "|".join(codes), glottocode or "", level, _plain(name), "|".join(plain))


def _plain(name: str) -> str:
    return re.sub(r"[\t\n|]+", " ", unicodedata.normalize("NFC", name)).strip()


def _languages(languoids: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Return every language of ISO 639-3, with its Glottocode and its usual script."""
    from langcodes import Language

    by_iso = {
        languoid["iso_639_3"]: languoid
        for languoid in languoids.values()
        if languoid.get("iso_639_3") and languoid.get("glottocode")
    }
    names: dict[str, list[str]] = {}
    for one in _tab("iso-639-3_Name_Index.tab"):
        names.setdefault(one["Id"], []).extend((one["Print_Name"], one["Inverted_Name"]))
    for one in _tab("iso-639-3.tab"):
        code = one["Part1"] or one["Id"]
        codes = dict.fromkeys(
            other for other in (one["Id"], one["Part2b"], one["Part2t"]) if other and other != code
        )
        glottolog = by_iso.get(one["Id"])
        language = Language.get(code)
        translated = [language.autonym(), *(language.display_name(named) for named in NAMED_IN)]
        known = [name for name in translated if name and "(" not in name and name.casefold() != code]
        others = [*names.get(one["Id"], ()), *known, *ALSO_CALLED.get(one["Id"], ())]
        row = _row(code, codes, glottolog and glottolog["glottocode"], "language", one["Ref_Name"], others)
        yield (*row, SCRIPT.get(code) or language.maximize().script or "")


def _without_iso(languoids: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Return languages that are in Glottolog but not in ISO 639-3: they have no tag."""
    for languoid in languoids.values():
        if languoid["level"] == "language" and languoid["glottocode"] and not languoid["iso_639_3"]:
            yield _row("", (), languoid["glottocode"], "language", languoid["name"], ())


def _dialects(languoids: Mapping[str, dict[str, Any]]) -> Iterator[tuple[str, ...]]:
    """Return dialects, each with the tag of its language instead of a code of its own, except those that ISO
    639-3 counts as languages.
    """
    of_iso = {one["Id"]: one["Part1"] or one["Id"] for one in _tab("iso-639-3.tab")}
    for languoid in languoids.values():
        if languoid["level"] != "dialect" or not languoid["glottocode"] or languoid["iso_639_3"]:
            continue
        above: dict[str, Any] | None = languoid
        while above is not None and not above["iso_639_3"] and above["level"] != "language":
            parents = above["relations"].get("parent") or [{"target_id": None}]
            above = languoids.get(parents[0]["target_id"])
        if above is not None and above["level"] in ("language", "dialect"):
            tag = of_iso.get(above["iso_639_3"] or "", "")
            yield (
                *_row(tag, (), languoid["glottocode"], "dialect", languoid["name"], ()),
                above["glottocode"] or "",
            )


def _read_replacements() -> dict[str, str]:
    """Return codes no longer in use, and the tag that replaced each."""
    part1 = {one["Id"]: one["Part1"] or one["Id"] for one in _tab("iso-639-3.tab")}
    found = {
        one["Id"]: part1[one["Change_To"]]
        for one in _tab("iso-639-3_Retirements.tab")
        if one["Change_To"] in part1
    }
    registry = (files("language_data") / "data" / "language-subtag-registry.txt").read_text(encoding="utf-8")
    for record in registry.split("%%"):
        fields = dict(re.findall(r"(?m)^([\w-]+): (.*)$", record))
        if fields.get("Type") == "language" and "Preferred-Value" in fields:
            found[fields["Subtag"]] = fields["Preferred-Value"]
    return {old: new for old, new in found.items() if old != new}


def _scripts(package: Path) -> Iterator[tuple[str, ...]]:
    """Return code, name, number, direction, whether columns occur, the source of the direction, and whose
    letters it uses.
    """
    with (files("qq") / "data" / "db.json.gz").open("rb") as file:
        entities = json.loads(gzip.decompress(file.read()))["entities"].values()
    ranges = {
        entity["iso_15924"]: entity["unicode_ranges"] or []
        for entity in entities
        if entity["__class__"] == "Script"
    }
    entry = re.compile(r"code: (['\"])(\w{4})\1,\s+name: (['\"])(.*?)\3,\s+numeric: '(\d{3})'", re.DOTALL)
    for found in sorted(
        entry.findall((package / "index.js").read_text(encoding="utf-8")), key=lambda one: one[1]
    ):
        code, name, number = found[1], found[3].replace("\\'", "'"), found[4]
        direction, source = _direction(code, number, ranges.get(LIKE.get(code, code), []))
        yield code, name, number, direction, "yes" if code in VERTICAL else "no", source, LIKE.get(code, "")


def _direction(code: str, number: str, ranges: Iterable[str]) -> tuple[str, str]:
    """Return the direction of lines and its source; empty if neither source states it."""
    if code.startswith("Z") and number.startswith("99"):
        return "", ""
    if code in IN_COLUMNS:
        return IN_COLUMNS[code], "usage"
    counts = {"ltr": 0, "rtl": 0}
    for span in ranges:
        first, _, last = span.replace("U+", "").partition("..")
        for point in range(int(first, 16), int(last or first, 16) + 1):
            kind = unicodedata.bidirectional(chr(point))
            if kind in ("R", "AL"):
                counts["rtl"] += 1
            elif kind == "L":
                counts["ltr"] += 1
    if any(counts.values()):
        return max(counts, key=lambda way: counts[way]), "unicode"
    if number.startswith("1"):
        return "rtl", "iso15924"
    return ("ltr", "iso15924") if number[0] in "234" else ("", "")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
