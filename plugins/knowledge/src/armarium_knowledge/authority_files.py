"""Authority files on a person's own machine: CSV, SKOS as RDF/XML, and extracts of Wikidata as lines of JSON.

They are read line by line; only names that occur in the project are kept, and nothing they refer to is
fetched.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from typing import IO, Any, NamedTuple

import orjson

from armarium.api import IsClosed, Library, open_plain, parse_xml
from armarium_documents.api import NotATable, read_table
from armarium_knowledge import errors
from armarium_knowledge.folding import fold
from armarium_source_model.api import name_forms

HELD = "knowledge.authorities"
LONGEST_LINE = 16 * 1024 * 1024
"""The longest line, in bytes; a longer one belongs to none of these formats."""
MAX_XML = 64 * 1024 * 1024
"""The largest XML file, in bytes; `parse_xml` refuses a larger one."""
_SKOS = "{http://www.w3.org/2004/02/skos/core#}"
_RDF = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}"


class Authority(NamedTuple):
    """One entry: its names, and its identifier in the file."""

    uri: str
    authority: str
    authority_id: str
    names: tuple[str, ...]
    """The preferred one first."""


def entries_of(path: Path, is_closed: IsClosed, note: Callable[[str], None]) -> Iterator[Authority]:
    """Yield the entries of a file; *note* is told what had to be supposed. Invalid for a file of none of the three
    formats.
    """
    with open_plain(path, is_closed) as file:
        begin = file.read(4096)
        file.seek(0)
        plain = begin.translate(None, b"\0").lstrip(b"\xef\xbb\xbf\xff\xfe \t\r\n")
        if plain.startswith(b"<"):
            yield from _read_skos(file, path.name)
        elif plain[:1] in (b"{", b"["):
            yield from _read_wikidata(file, path.name)
        else:
            yield from _read_table(file, path.name, note)


def _read_lines(file: IO[bytes], name: str) -> Iterator[bytes]:
    while line := file.readline(LONGEST_LINE + 1):
        if len(line) > LONGEST_LINE:
            raise errors.not_an_authority_file(name, "it has a line of more than 16 MiB")
        yield line


def _read_table(file: IO[bytes], name: str, note: Callable[[str], None]) -> Iterator[Authority]:
    try:
        table = read_table(file)
        if "uri" not in table.columns or not {"name", "label"} & set(table.columns):
            raise errors.not_an_authority_file(
                name, "its first line names no columns uri and name (or label)"
            )
        if table.note is not None:
            note(table.note)
        for _, cells in table.rows:
            called = cells.get("name") or cells.get("label") or ""
            others = (cells.get("names") or cells.get("aliases") or "").split("|")
            if called and ":" in cells.get("uri", ""):
                own_id = cells.get("id") or cells["uri"].rstrip("/").rsplit("/", 1)[-1]
                yield _make_authority(cells["uri"], (called, *others), cells.get("authority"), own_id)
    except NotATable as error:
        raise errors.not_an_authority_file(name, str(error)) from error


def _make_authority(uri: str, names: Iterable[str], authority: str | None, authority_id: str) -> Authority:
    host = uri.split("//")[-1].split("/")[0] or uri.split(":")[0]
    return Authority(
        uri, authority or host, authority_id, tuple(name.strip() for name in names if name.strip())
    )


def _read_skos(file: IO[bytes], name: str) -> Iterator[Authority]:
    root = parse_xml(file.read(MAX_XML + 1), name=name)
    has_concepts = False
    for concept in root.iter(f"{_SKOS}Concept", f"{_RDF}Description"):
        uri = concept.get(f"{_RDF}about") or ""
        labels = [
            (child.text or "").strip()
            for kind in ("prefLabel", "altLabel", "hiddenLabel")
            for child in concept.iterfind(f"{_SKOS}{kind}")
        ]
        if labels and ":" in uri:
            has_concepts = True
            yield _make_authority(uri, labels, None, uri.rstrip("/").rsplit("/", 1)[-1].rsplit("#", 1)[-1])
    if not has_concepts:
        raise errors.not_an_authority_file(name, "it is XML without concepts of SKOS")


def _read_wikidata(file: IO[bytes], name: str) -> Iterator[Authority]:
    for line in _read_lines(file, name):
        text = line.removeprefix(b"\xef\xbb\xbf").strip().rstrip(b",")
        if text in (b"", b"[", b"]"):
            continue
        try:
            item = orjson.loads(text)
        except orjson.JSONDecodeError as error:
            raise errors.not_an_authority_file(
                name, "it is not JSON with one item per line, as Wikidata writes it"
            ) from error
        if isinstance(item, dict) and isinstance(item.get("id"), str):
            labels = list(_read_values(item.get("labels"))) + list(_read_values(item.get("aliases")))
            if labels:
                yield Authority(
                    f"http://www.wikidata.org/entity/{item['id']}",
                    "wikidata",
                    item["id"],
                    tuple(dict.fromkeys(labels)),
                )


def _read_values(by_language: Any) -> Iterator[str]:
    for value in by_language.values() if isinstance(by_language, dict) else ():
        for item in value if isinstance(value, list) else [value]:
            words = item.get("value") if isinstance(item, dict) else item
            if isinstance(words, str) and words.strip():
                yield words.strip()


class KnownEntries(NamedTuple):
    """Entries by the folded names that were wanted, preferred names and others separately."""

    by_name: dict[str, dict[str, tuple[Authority, float]]]
    notes: tuple[str, ...]
    """What had to be supposed of the file."""

    def find_named(self, name: str) -> tuple[Authority, float] | None:
        """Return the one entry of that name and how certain it is; None if there is none, or several."""
        matches = list(self.by_name.get(fold(name), {}).values())
        best = max((certainty for _, certainty in matches), default=0.0)
        likeliest = [match for match in matches if match[1] == best]
        return likeliest[0] if len(likeliest) == 1 else None


def read_known(library: Library, path: Path, folded_names: Iterable[str]) -> KnownEntries:
    """Return what a file says of these names; cached until the file or the names change."""
    names = frozenset(folded_names)
    stat = path.stat()
    state = (str(path), stat.st_mtime_ns, stat.st_size, hash(names))
    cached = library.held.get(HELD)
    if cached is None or cached[0] != state:
        by_name: dict[str, dict[str, tuple[Authority, float]]] = {}
        notes: list[str] = []
        for entry in entries_of(path, library.is_closed, notes.append):
            for place, name in enumerate(entry.names):
                for key in names.intersection(name_forms(name)):
                    by_name.setdefault(key, {}).setdefault(entry.uri, (entry, 0.9 if place else 1.0))
        cached = state, KnownEntries(by_name, tuple(notes))
        library.held[HELD] = cached
    entries: KnownEntries = cached[1]
    return entries
