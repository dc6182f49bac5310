"""Reads a layout file into a page as a new pass, and writes what every imported pass stores."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from typing import Any

from sqlalchemy import Connection

from armarium.api import ActionContext, Engine, Example, Library, action, json_text, raw_of
from armarium_documents.api import require_all_live, require_live
from armarium_formats.actions.samples import SAMPLE_PAGE
from armarium_formats.assembling import order_as_json
from armarium_formats.driver import FormatDriver
from armarium_formats.errors import AlreadyAPass
from armarium_formats.marks import TAKEN, MarkedText, ReadMarks, are_taken, take_marks
from armarium_formats.models import format_imports
from armarium_formats.opening import OpenedFile, choose_page, collector_waits, decide_size, open_layout
from armarium_formats.page_model import PageModel
from armarium_formats.placing import Beyond, PlacedSegments, place
from armarium_formats.queries.exchange import Picture, pass_of_file, passes_of_files, picture_of, pictures_of
from armarium_formats.retracing import retrace
from armarium_formats.schemas.exchange import Imported, ImportedSeveral, ImportFile, ImportSeveral
from armarium_formats.turning import TURN_UNKNOWN, has_shapes, leaves_open, turn_page, wants_turning
from armarium_source_model.api import (
    ONE_PASS_A_FILE,
    MadePass,
    NewPass,
    NewReading,
    StatedFacts,
    add_readings,
    create_passes,
)

HANDS = 4
"""Files whose bytes are put on disk at a time."""


def _example(ex: Example) -> dict[str, Any]:
    page = ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})
    return {"document_id": page["id"], "file": SAMPLE_PAGE, "filename": "letter.xml"}


@dataclass(slots=True)
class PreparedPage:
    """A page of a file, read and placed, ready to be written. Its segments are in `placed` only."""

    driver: FormatDriver
    page: PageModel
    placed: PlacedSegments
    notes: list[str]
    pages_in_file: int = 1
    left_out: list[int] = field(default_factory=list)


def make_ready(
    opened: OpenedFile,
    picture: Picture,
    asked: str | None = None,
    notes: tuple[str, ...] = (),
    *,
    beyond: Beyond = "clip",
) -> PreparedPage:
    """Return the requested page with its shapes in fractions of the picture. Raises ShapesOutside,
    NoPageSize, Invalid.
    """
    page, left_out = choose_page(opened.pages, asked)
    if wants_turning(page, picture.size, picture.orientation):
        # A page placed ahead has no shapes of its own any more, so this is checked by whoever reads ahead.
        assert opened.placed is None
        page = turn_page(page, picture.orientation)
    elif leaves_open(page, picture.size, picture.orientation) and (opened.placed or has_shapes(page)):
        notes = (*notes, TURN_UNKNOWN)
    said = [*page.notes, *notes]
    size = decide_size(page, picture.size, opened.filename, said)
    placed = opened.placed or place(page, size, opened.filename, opened.driver.name, beyond)
    bare = replace(page, segments=[])
    return PreparedPage(opened.driver, bare, placed, said + placed.notes, len(opened.pages), left_out)


def _read_ahead(engine: Engine, library: Library | None, p: ImportFile) -> None:
    """Read the file and store its bytes before the writer is taken; what cannot be imported is refused
    here.
    """
    assert library is not None
    with library.db.read() as conn:
        require_live(conn, p.document_id)
        known = pass_of_file(conn, p.document_id, p.digest)
        picture = picture_of(conn, p.document_id)
    if known is not None:
        raise AlreadyAPass(p.filename, *known)
    if p.ready_for(picture) is None:
        p.make_ready_for(picture, _prepare_page(engine, library, p, picture))
    library.objects.put_bytes(p.data)


def _prepare_page(
    engine: Engine,
    library: Library,
    p: ImportFile,
    picture: Picture,
    likely: str | None = None,
    conn: Connection | None = None,
) -> PreparedPage:
    with collector_waits():
        opened = open_layout(
            engine,
            p.data,
            p.filename,
            asked=p.format,
            page_size=picture.size,
            companions={one.filename: one.data for one in p.companions},
            likely=likely,
        )
        retrace(library, p.document_id, opened, p.pages, picture, conn)
        return make_ready(opened, picture, p.pages, beyond=p.beyond)


@action(
    "format.import",
    params=ImportFile,
    result=Imported,
    summary="Read a layout file into a page as a new pass with its segments and readings.",
    words="Read a layout file into {document_id|a page}",
    example=_example,
    laws=(ONE_PASS_A_FILE,),
    prepare=_read_ahead,
)
def import_file(ctx: ActionContext, p: ImportFile) -> dict[str, Any]:
    """One step. The original is stored byte for byte; the pass never becomes the working pass by itself.

    Raises NotFound (no such document), AlreadyAPass, NotRecognised, NotReadable, ShapesOutside, NoPageSize,
    Invalid for a file its driver refuses.
    """
    with collector_waits():
        return _import(ctx, p)[0]


def _import(ctx: ActionContext, *files: ImportFile) -> list[dict[str, Any]]:
    require_all_live(ctx.conn, [one.document_id for one in files])
    raw = raw_of(ctx.conn)
    known = passes_of_files(raw, ((one.document_id, one.digest) for one in files))
    pictures = pictures_of(raw, (one.document_id for one in files))
    given: list[ToKeep] = []
    for one, there, picture in zip(files, known, pictures, strict=True):
        if there is not None:
            raise AlreadyAPass(one.filename, *there)
        ready: PreparedPage | None = one.ready_for(picture)
        if ready is None:
            ready = _prepare_page(ctx.engine, ctx.project, one, picture, conn=ctx.conn)
            ctx.project.objects.put_bytes(one.data)
        given.append(ToKeep(one.document_id, ready, picture, one.filename, one.digest, one.name))
    return [
        {**made, "pages_in_file": one.ready.pages_in_file, "pages_left_out": one.ready.left_out}
        for made, one in zip(keep_passes(ctx, given), given, strict=True)
    ]


def _several_example(ex: Example) -> dict[str, Any]:
    return {"files": [_example(ex), _example(ex)]}


def _read_several_ahead(engine: Engine, library: Library | None, p: ImportSeveral) -> None:
    assert library is not None
    objects = library.objects
    # Storing a file is mostly waiting for the disk; files read ahead are stored already.
    with ThreadPoolExecutor(HANDS, "keep") as hands, collector_waits():
        kept = [hands.submit(objects.put_bytes, one.data) for one in p.files if not objects.holds(one.digest)]
        with library.db.read() as conn:
            require_all_live(conn, [one.document_id for one in p.files])
            pictures = pictures_of(raw_of(conn), (one.document_id for one in p.files))
        likely: str | None = None
        for one, picture in zip(p.files, pictures, strict=True):
            ready = one.ready_for(picture) or _prepare_page(engine, library, one, picture, likely)
            one.make_ready_for(picture, ready)
            likely = ready.driver.name
        for waiting in kept:
            waiting.result()


@action(
    "ingest.layouts",
    params=ImportSeveral,
    result=ImportedSeveral,
    summary="Read several layout files, each into its page, in one step: all of them or none.",
    words="Read layout files into {|pages}",
    example=_several_example,
    laws=(ONE_PASS_A_FILE,),
    prepare=_read_several_ahead,
)
def import_several(ctx: ActionContext, p: ImportSeveral) -> dict[str, Any]:
    """Import a bounded batch. Raises what `format.import` does, for the first file that is refused."""
    with collector_waits():
        if len({(one.document_id, one.digest) for one in p.files}) == len(p.files):
            items = _import(ctx, *p.files)
        else:
            # The second of two identical files finds the pass of the first.
            items = [made for one in p.files for made in _import(ctx, one)]
    return {"items": items, "count": len(items)}


@dataclass(frozen=True, slots=True)
class ToKeep:
    """A page that is ready, its document, and its file, whose bytes are stored already."""

    document_id: str
    ready: PreparedPage
    picture: Picture
    filename: str
    digest: str
    name: str | None = None

    @property
    def pass_name(self) -> str:
        """Return the name of its pass."""
        return self.name or f"{self.ready.driver.label}: {self.filename}"


def keep_passes(ctx: ActionContext, given: Sequence[ToKeep]) -> list[dict[str, Any]]:
    """Write pages as new passes with their segments and readings. Raises what `create_pass` does."""
    made = create_passes(
        ctx,
        [
            NewPass(
                one.document_id,
                one.pass_name,
                import_file=one.filename,
                import_checksum=one.digest,
                import_format=one.ready.driver.name,
                has_original=True,
                segments=one.ready.placed.segments,
                rendition_id=one.picture.rendition_id,
                facts=StatedFacts(
                    one.ready.page.language,
                    one.ready.page.script,
                    one.ready.page.direction,
                    one.ready.page.line_order,
                    one.ready.page.proportion,
                ),
            )
            for one in given
        ],
    )
    kept = [
        [{"what": what, "count": count} for what, count in sorted(one.ready.page.kept.items())]
        for one in given
    ]
    by_file = [list(_readings(new, one.ready)) for new, one in zip(made, given, strict=True)]
    ids = iter(
        add_readings(
            ctx, [reading for readings in by_file for reading in readings], provenance_kind="external_import"
        )
    )
    notes = [
        one.ready.notes + take_marks(ctx, _marks(new, one, [next(ids) for _ in readings]))
        for new, one, readings in zip(made, given, by_file, strict=True)
    ]
    ctx.bulk_insert(
        format_imports,
        format_imports.c.keys(),
        [
            (
                new.pass_id,
                one.document_id,
                one.ready.driver.name,
                one.ready.page.version,
                one.filename,
                one.digest,
                one.ready.page.width or None,
                one.ready.page.height or None,
                json_text(_page_statements(one.ready, are_taken(ctx.engine))),
                json_text(counts),
                json_text(said),
                ctx.now,
            )
            for new, one, counts, said in zip(made, given, kept, notes, strict=True)
        ],
    )
    return [
        {
            "pass_id": new.pass_id,
            "name": one.pass_name,
            "format": one.ready.driver.name,
            "counts": {
                **{kind: one.ready.placed.counts[kind] for kind in ("region", "line", "word")},
                "readings": len(one.ready.placed.texts),
            },
            "unknown_classes": list(one.ready.page.unknown_classes),
            "kept": counts,
            "notes": said,
        }
        for new, one, counts, said in zip(made, given, kept, notes, strict=True)
    ]


def _marks(new: MadePass, one: ToKeep, reading_ids: Sequence[str]) -> ReadMarks:
    """Return what the file states about the page's lines beyond their texts, by their ids in the project."""
    placed, page = one.ready.placed, one.ready.page
    if not placed.marked and not placed.hands:
        return ReadMarks(one.document_id, {}, {}, (), ())
    by_key = dict(zip(placed.segments.keys, new.segment_ids, strict=True))
    of_text = {id(text): made for (_, text), made in zip(placed.texts, reading_ids, strict=True)}
    return ReadMarks(
        one.document_id,
        page.hands,
        page.signs,
        [(by_key[key], hand) for key, hand in placed.hands],
        [MarkedText(by_key[key], of_text.get(id(text)), text.marks) for key, text in placed.marked],
    )


def _page_statements(ready: PreparedPage, marks_taken: bool) -> dict[str, Any]:
    """Return what a file states about its page as a whole, for export."""
    page = ready.page
    extras = page.extras
    if marks_taken and "tei" in extras:
        extras = {**extras, "tei": {**extras["tei"], "marks": TAKEN}}
    elif marks_taken and ready.placed.marked:
        extras = {**extras, "pagexml": {**extras.get("pagexml", {}), "marks": TAKEN}}
    return {
        "image": page.image,
        "order": order_as_json(page.order),
        "language": page.language,
        "script": page.script,
        "direction": page.direction,
        "extras": extras,
    }


def _readings(new: MadePass, ready: PreparedPage) -> Iterator[NewReading]:
    if not ready.placed.texts:
        return
    by_key = dict(zip(ready.placed.segments.keys, new.segment_ids, strict=True))
    for key, text in ready.placed.texts:
        yield NewReading(
            by_key[key], text.text, text.kind, confidence=text.confidence, producer_tool=ready.driver.name
        )
