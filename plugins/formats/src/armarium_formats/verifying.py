"""Whether an exported file is what the project said at the step it names, and if not, where it differs.

The page is exported again as of that step, with the choices and the time that the file states. Then its meaning is
compared, line by line, and its bytes last: a file that another program wrote anew may still say the same.
"""

from __future__ import annotations

import zipfile
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from armarium.api import (
    ServiceError,
    check_archive,
    find_moment,
    open_plain,
    read_member,
    reading_past,
    verify_chain,
)
from armarium_formats.batches.batch_files import on_disk
from armarium_formats.catalogue import find_driver
from armarium_formats.citing import PageCitation, find_citations
from armarium_formats.decoding import decode
from armarium_formats.driver import FormatDriver, ReadContext
from armarium_formats.errors import no_past_named
from armarium_formats.opening import MAX_FILE_BYTES, open_layout
from armarium_formats.page_model import PageModel, PageSegment
from armarium_formats.queries.exchange import export_page

if TYPE_CHECKING:
    from armarium.api import Engine, Library
    from armarium_formats.schemas.verifying import VerifyFile

MOST_DIFFERENCES = 50
"""Differences of one page that are listed; all are counted."""
BESIDE = "as-of.txt"
"""The member of a ZIP file that cites the pages of files whose format has no place for it: a name and a line each."""
_LONGEST = 200


def verify_on_disk(engine: Engine, library: Library, params: VerifyFile) -> dict[str, Any]:
    """Verify a file on this machine, or each file of a ZIP."""
    received_file = on_disk(params.path)
    with open_plain(received_file.path, engine.paths.is_closed) as file:
        data = file.read(MAX_FILE_BYTES + 1)
    with library.db.read_all() as conn:
        # Of the steps before a snapshot too: the log is one chain since the project's first step.
        fault = verify_chain(conn)
    items = [
        {"name": name, **_verify(engine, library, name, part, params, beside)}
        for name, part, beside in _parts(data, received_file.path.name)
    ]
    return {
        "filename": received_file.path.name,
        "items": items,
        "count": len(items),
        "is_same": all(item["verdict"] in ("same", "same meaning") for item in items) and fault is None,
        "log_fault": fault,
    }


def _parts(data: bytes, name: str) -> Iterator[tuple[str, bytes, Mapping[str, PageCitation]]]:
    if not data.startswith(b"PK\x03\x04"):
        yield name, data, {}
        return
    members = check_archive(data, name=name, max_bytes=MAX_FILE_BYTES * 8)
    import io

    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        beside: dict[str, PageCitation] = {}
        for member in members:
            if Path(member.filename).name == BESIDE:
                for line in decode(read_member(archive, member)).text.splitlines():
                    called, _, line_of_it = line.partition("\t")
                    for cited in find_citations(line_of_it):
                        beside[called] = cited
        for member in members:
            if Path(member.filename).name != BESIDE:
                yield member.filename, read_member(archive, member), beside


def _verify(
    engine: Engine,
    library: Library,
    name: str,
    data: bytes,
    params: VerifyFile,
    beside: Mapping[str, PageCitation],
) -> dict[str, Any]:
    cited = list(find_citations(decode(data).text))
    if not cited and name in beside:
        cited = [beside[name]]
    named = [citation.document for citation in cited]
    if params.document_id is not None and params.as_of is None and named and params.document_id not in named:
        why = f"It says that it is a copy of the page {named[0]}, not of {params.document_id}."
        return _make_verdict("differs", why, cited[0])
    if params.document_id is not None and (params.as_of is not None or not cited):
        cited = [_cite_as_told(engine, library, name, data, params)]
    elif params.as_of is not None and cited:
        with library.db.read() as conn:
            moment = find_moment(conn, params.as_of)
        cited = [replace(citation, step=moment.audit_id, digest=moment.digest) for citation in cited]
    if not cited:
        return _make_verdict("unnamed", no_past_named(name).detail)
    for citation in cited:
        if citation.library.replace("-", "") != library.uuid.replace("-", ""):
            why = f"It is an export of the project {citation.library}, and this one is {library.uuid}; name that project."
            return _make_verdict("other project", why, cited[0])
        if citation.created and not _is_time(citation.created):
            return _make_verdict("differs", "Somebody edited the time that it states.", cited[0])
    driver = find_driver(engine, cited[0].format)
    if driver is None:
        return _make_verdict(
            "unreadable", f"It is in the format {cited[0].format}, which is not known here.", cited[0]
        )
    try:
        exported = [_as_of(engine, library, citation) for citation in cited]
    except ServiceError as refusal:
        return _make_verdict(
            "not there", f"The project has no such page at that step: {refusal.detail}", cited[0]
        )
    wrong = next(
        (
            citation
            for citation, (_, digest) in zip(cited, exported, strict=True)
            if citation.digest not in ("", digest)
        ),
        None,
    )
    if wrong is not None:
        why = (
            f"The digest of this project's log up to the step {wrong.step} is not the one that the file names: "
            "its history is another one, or somebody edited the file's statement."
        )
        return _make_verdict("other history", why, cited[0])
    if [content.encode() for content, _ in exported] == [data]:
        return _make_verdict("same", "It is what the project said at that step, byte for byte.", cited[0])
    try:
        theirs = open_layout(engine, data, name, asked=driver.name).pages
    except ServiceError as refusal:
        return _make_verdict("differs", f"It can no longer be read: {refusal.detail}", cited[0])
    ours = [page for content, _ in exported for page in _read(driver, content, name)]
    differences = list(_differences(ours, theirs))
    if not differences:
        why = "It says what the project said at that step; only its bytes are written otherwise."
        return _make_verdict("same meaning", why, cited[0])
    why = f"It is not what the project said at that step. Values that differ: {len(differences)}."
    return {**_make_verdict("differs", why, cited[0]), "differences": differences[:MOST_DIFFERENCES]}


def _is_time(text: str) -> bool:
    with suppress(ValueError):
        return "T" in text and datetime.fromisoformat(text).tzinfo is not None
    return False


def _cite_as_told(
    engine: Engine, library: Library, name: str, data: bytes, params: VerifyFile
) -> PageCitation:
    """Return what the caller says that a file is a copy of."""
    with library.db.read() as conn:
        moment = find_moment(conn, params.as_of)
    opened = open_layout(engine, data, name)
    return PageCitation(
        library.uuid, str(params.document_id), moment.audit_id, moment.digest, opened.driver.name, ""
    )


def _as_of(engine: Engine, library: Library, cited: PageCitation) -> tuple[str, str]:
    """Return the page as it was, and the digest of the log up to that step."""
    chosen = dict(cited.choices)
    with reading_past(library, cited.step, [cited.document]) as moment:
        exported = export_page(
            engine,
            library,
            cited.document,
            cited.format,
            created=cited.created or None,
            pass_id=chosen.get("pass_id"),
            order_id=chosen.get("order_id"),
            reading_kind=chosen.get("reading_kind", "transcription"),
        )
    return str(exported["content"]), moment.digest


def _read(driver: FormatDriver, content: str, name: str) -> list[PageModel]:
    return driver.read(content.encode(), ReadContext(name))


def _differences(ours: list[PageModel], theirs: list[PageModel]) -> Iterator[dict[str, Any]]:
    """Yield where pages differ: the page, the line counted as in the file, what of it, as it was and as it stands there."""
    if len(ours) != len(theirs):
        yield _differs(1, None, "number of pages", len(ours), len(theirs))
    for number, (page, other) in enumerate(zip(ours, theirs, strict=False), start=1):
        for what in ("width", "height", "image", "language", "script", "direction"):
            was, is_ = getattr(page, what), getattr(other, what)
            if was != is_:
                yield _differs(number, None, what, was, is_)
        mine, its = list(page.walk()), list(other.walk())
        if len(mine) != len(its):
            yield _differs(number, None, "number of segments", len(mine), len(its))
        line = 0
        for segment, copy in zip(mine, its, strict=False):
            line += segment.kind == "line"
            for what, was, is_ in _of_segment(segment, copy):
                yield _differs(number, line or None, what, was, is_)
        order, its_order = ([segment.id for segment in model.in_order()] for model in (page, other))
        if order != its_order and len(mine) == len(its):
            yield _differs(number, None, "reading order", "", "")


def _of_segment(segment: PageSegment, copy: PageSegment) -> Iterator[tuple[str, object, object]]:
    for what in ("kind", "kind_raw", "text", "points", "baseline", "language", "script", "direction", "cell"):
        was, is_ = getattr(segment, what), getattr(copy, what)
        if was != is_:
            called = {"points": "outline"}.get(what, what)
            yield f"{called} of a {segment.kind}", *_narrow(was, is_)
    for what, values in (("further text", _further_texts), ("marks", _marks)):
        if values(segment) != values(copy):
            yield f"{what} of a {segment.kind}", values(segment), values(copy)


def _further_texts(segment: PageSegment) -> list[tuple[object, ...]]:
    return [(text.kind, text.text) for text in segment.texts[1:]]


def _marks(segment: PageSegment) -> list[tuple[object, ...]]:
    return [(mark.kind, mark.start, mark.end) for text in segment.texts for mark in text.marks]


def _narrow(was: object, is_: object) -> tuple[object, object]:
    """Return of two outlines of as many points only the points that differ."""
    if isinstance(was, list) and isinstance(is_, list) and len(was) == len(is_):
        pairs = [(point, other) for point, other in zip(was, is_, strict=True) if point != other]
        return [point for point, _ in pairs], [other for _, other in pairs]
    return was, is_


def _differs(page: int, line: int | None, what: str, was: object, is_: object) -> dict[str, Any]:
    return {"page": page, "line": line, "what": what, "then": _words(was), "in_file": _words(is_)}


def _words(value: object) -> str:
    return str("" if value is None else value)[:_LONGEST]


def _make_verdict(verdict: str, sentence: str, cited: PageCitation | None = None) -> dict[str, Any]:
    return {
        "verdict": verdict,
        "sentence": sentence,
        "document_id": cited and cited.document,
        "step": cited and cited.step,
        "digest": cited and cited.digest,
        "format": cited and cited.format,
        "differences": [],
    }
