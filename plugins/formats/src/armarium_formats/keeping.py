"""Writes pages that were read from files as passes of their documents; called inside actions."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import ActionContext, json_text, raw_of
from armarium_formats.as_filed import order_as_json
from armarium_formats.driver import FormatDriver
from armarium_formats.marks import TAKEN, MarkedText, ReadMarks, are_taken, take_marks
from armarium_formats.models import format_imports
from armarium_formats.opening import OpenedFile, choose_page, decide_size
from armarium_formats.page_model import FACT_KINDS, PageModel
from armarium_formats.placing import Beyond, PlacedSegments, place
from armarium_formats.queries.exchange import Picture, pictures_of
from armarium_formats.taken_pages import TakenPage, take_page
from armarium_formats.turning import TURN_UNKNOWN, has_shapes, leaves_open, turn_page, wants_turning
from armarium_source_model.api import (
    LetterPlaces,
    MadePass,
    NewPass,
    NewReading,
    PlacesIn,
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
    choice: str | None = None,
    notes: tuple[str, ...] = (),
    *,
    beyond: Beyond = "clip",
) -> PreparedPage:
    """Return the requested page with its shapes in fractions of the picture. Raises shapes_outside,
    NoPageSize, Invalid.
    """
    page, left_out = choose_page(opened.pages, choice)
    if wants_turning(page, picture.size, picture.orientation):
        # A page placed ahead has no shapes of its own any more, so this is checked by whoever reads ahead.
        assert opened.placed is None
        page = turn_page(page, picture.orientation)
    elif leaves_open(page, picture.size, picture.orientation) and (opened.placed or has_shapes(page)):
        notes = (*notes, TURN_UNKNOWN)
    page_notes = [*page.notes, *notes]
    size = decide_size(page, picture.size, opened.filename, page_notes)
    placed = opened.placed or place(page, size, opened.filename, opened.driver.name, beyond)
    bare = replace(page, segments=[])
    return PreparedPage(opened.driver, bare, placed, page_notes + placed.notes, len(opened.pages), left_out)


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


def keep_passes(ctx: ActionContext, files: Sequence[ToKeep]) -> list[dict[str, Any]]:
    """Write pages as new passes with their segments and readings. Raises what `create_pass` does."""
    new_passes = create_passes(
        ctx,
        [
            NewPass(
                file.document_id,
                file.pass_name,
                file.provider,
                import_file=file.filename,
                import_checksum=file.digest,
                import_format=file.ready.driver.name,
                has_original=True,
                segments=file.ready.placed.segments,
                rendition_id=file.picture.rendition_id,
                facts=StatedFacts(
                    file.ready.page.language,
                    file.ready.page.script,
                    file.ready.page.direction,
                    file.ready.page.line_order,
                    file.ready.page.proportion,
                ),
            )
            for file in files
        ],
    )
    kept_counts = [
        [{"what": what, "count": count} for what, count in sorted(file.ready.page.kept.items())]
        for file in files
    ]
    by_file = [list(_readings(new, file)) for new, file in zip(new_passes, files, strict=True)]
    ids = iter(
        add_readings(
            ctx, [reading for readings in by_file for reading in readings], provenance_kind="external_import"
        )
    )
    notes = [
        file.ready.notes
        + take_marks(ctx, _marks(new, file, [next(ids) for _ in readings]))
        + take_page(ctx, file.ready.driver.name, file.as_taken(new.pass_id))
        for new, file, readings in zip(new_passes, files, by_file, strict=True)
    ]
    ctx.bulk_insert(
        format_imports,
        format_imports.c.keys(),
        [
            (
                new.pass_id,
                file.document_id,
                file.ready.driver.name,
                file.ready.page.version,
                file.filename,
                file.digest,
                file.ready.page.width or None,
                file.ready.page.height or None,
                json_text(_page_statements(file.ready, are_taken(ctx.engine))),
                json_text(counts),
                json_text(page_notes),
                ctx.now,
            )
            for new, file, counts, page_notes in zip(new_passes, files, kept_counts, notes, strict=True)
        ],
    )
    return [
        {
            "pass_id": new.pass_id,
            "name": file.pass_name,
            "format": file.ready.driver.name,
            "counts": {
                **{kind: file.ready.placed.counts[kind] for kind in ("region", "line", "word")},
                "readings": len(file.ready.placed.texts),
            },
            "unknown_classes": list(file.ready.page.unknown_classes),
            "kept": counts,
            "notes": page_notes,
        }
        for new, file, counts, page_notes in zip(new_passes, files, kept_counts, notes, strict=True)
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
            ToKeep(document_id, prepared, picture, filename, digest)
            for (document_id, _), prepared, picture in zip(pages, ready, pictures, strict=True)
        ],
    )


def _marks(new: MadePass, file: ToKeep, reading_ids: Sequence[str]) -> ReadMarks:
    """Return what the file states about the page's lines beyond their texts, by their ids in the project."""
    placed, page = file.ready.placed, file.ready.page
    if not placed.marked and not placed.hands:
        return ReadMarks(file.document_id, new.pass_id, {}, {}, (), ())
    by_key = dict(zip(placed.segments.keys, new.segment_ids, strict=True))
    of_text = {id(text): reading_id for (_, text), reading_id in zip(placed.texts, reading_ids, strict=True)}
    return ReadMarks(
        file.document_id,
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


def _readings(new: MadePass, file: ToKeep) -> Iterator[NewReading]:
    ready = file.ready
    if not ready.placed.texts:
        return
    by_key = dict(zip(ready.placed.segments.keys, new.segment_ids, strict=True))
    for key, text in ready.placed.texts:
        yield NewReading(
            by_key[key],
            text.text,
            text.kind,
            confidence=text.confidence,
            producer_tool=ready.driver.name,
            places=None if text.places is None else _places_of(text.places, file.picture),
        )


def _places_of(places: LetterPlaces, picture: Picture) -> PlacesIn:
    letters = [-1 if part is None else round(10_000 * part) for letter in places.letters for part in letter]
    others = {str(at): list(some) for at, some in places.others.items()}
    return PlacesIn(rendition_id=picture.rendition_id, frame=places.frame, letters=letters, others=others)
