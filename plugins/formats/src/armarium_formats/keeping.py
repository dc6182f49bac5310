"""Writes pages that were read from files as passes of their documents; called inside actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import ActionContext, json_text, raw_of
from armarium_formats.assembling import order_as_json
from armarium_formats.driver import FormatDriver
from armarium_formats.marks import (
    TAKEN,
    MarkedText,
    ReadMarks,
    are_taken,
    take_marks,
)
from armarium_formats.models import format_imports
from armarium_formats.opening import OpenedFile, choose_page, decide_size
from armarium_formats.page_model import FACT_KINDS, PageModel
from armarium_formats.placing import Beyond, PlacedSegments, place
from armarium_formats.queries.exchange import Picture, pictures_of
from armarium_formats.taken_pages import TakenPage, take_page
from armarium_formats.turning import TURN_UNKNOWN, has_shapes, leaves_open, turn_page, wants_turning
from armarium_source_model.api import (
    MadePass,
    NewPass,
    NewReading,
    StatedFacts,
    add_readings,
    create_passes,
)


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
    """Return the requested page with its shapes in fractions of the picture. Raises shapes_outside,
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


@dataclass(frozen=True, slots=True)
class ToKeep:
    """A page that is ready, its document, and its file, whose bytes are stored already."""

    document_id: str
    ready: PreparedPage
    picture: Picture
    filename: str
    digest: str
    name: str | None = None
    provider: str | None = None

    def as_taken(self, pass_id: str) -> TakenPage:
        """Return the page for the families that take what its reader kept."""
        page, picture = self.ready.page, self.picture
        size = picture.size or (page.width or 1, page.height or 1)
        return TakenPage(self.document_id, pass_id, picture.rendition_id, page, size, picture.orientation)

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
                one.provider,
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
        one.ready.notes
        + take_marks(ctx, _marks(new, one, [next(ids) for _ in readings]))
        + take_page(ctx, one.ready.driver.name, one.as_taken(new.pass_id))
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


def keep_models(
    ctx: ActionContext,
    pages: Sequence[tuple[str, PageModel]],
    driver: FormatDriver,
    filename: str,
    digest: str,
) -> list[dict[str, Any]]:
    """Write pages that a family read itself, each as a pass of its document; *digest* names the stored file. Shapes beyond
    a page are clipped, and one wholly beyond it gets the place of what surrounds it.
    """
    pictures = pictures_of(raw_of(ctx.conn), [document_id for document_id, _ in pages])
    ready = [
        make_ready(OpenedFile(driver, filename, digest, [page]), picture, beyond="keep")
        for (_, page), picture in zip(pages, pictures, strict=True)
    ]
    return keep_passes(
        ctx,
        [
            ToKeep(document_id, one, picture, filename, digest)
            for (document_id, _), one, picture in zip(pages, ready, pictures, strict=True)
        ],
    )


def _marks(new: MadePass, one: ToKeep, reading_ids: Sequence[str]) -> ReadMarks:
    """Return what the file states about the page's lines beyond their texts, by their ids in the project."""
    placed, page = one.ready.placed, one.ready.page
    if not placed.marked and not placed.hands:
        return ReadMarks(one.document_id, new.pass_id, {}, {}, (), ())
    by_key = dict(zip(placed.segments.keys, new.segment_ids, strict=True))
    of_text = {id(text): made for (_, text), made in zip(placed.texts, reading_ids, strict=True)}
    return ReadMarks(
        one.document_id,
        new.pass_id,
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
    elif marks_taken and any(
        mark.kind in FACT_KINDS for _, text in ready.placed.marked for mark in text.marks
    ):
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
