"""What an evaluation measures: installed candidates, pages that none of them can have been trained on,
checked lines.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from armarium.api import Engine, Library, NameOrMaterialPath, Principal, ServiceError, find_withheld
from armarium_documents.api import documents, pages_under
from armarium_reading.api import Reader, choose, installed_readers, placed_with_provider
from armarium_training import cards, errors
from armarium_training.line_sets import NO_PICTURE, checked_lines, checksum_of
from armarium_training.relatives import REPEATED, Relatives
from armarium_training.schemas.evaluation import Candidate, RunParams

VISION = "vision"


@dataclass(frozen=True)
class Measurable:
    """A candidate that can be measured: the driver that reads with it, or the provider that serves it."""

    model: str
    reader: str
    driver: str | None
    provider: str | None = None
    named: str | None = None
    """What the driver is given as its model; None: it needs none."""
    card: dict[str, Any] | None = None
    is_far: bool = False
    """Whether another machine serves it, so that pictures of lines are sent there."""

    def describe(self) -> dict[str, Any]:
        """Return its description in a plan."""
        return {
            "model": self.model,
            "reader": self.reader,
            "provider": self.provider,
            "driver": self.driver,
            "named": self.named,
            "trained": self.card is not None,
            "is_far": self.is_far,
        }


def kind_of(reader: type[Reader]) -> str:
    """Return whether a driver counts as a line reader or as a vision model: the shipped readers are line readers."""
    return VISION if reader.name == VISION or reader.model_kind == VISION else "linereader"


def readers_of(readers: Sequence[type[Reader]], kind: str) -> list[type[Reader]]:
    """Return those of *readers* of that kind that read lines or pages."""
    return [
        reader for reader in readers if kind_of(reader) == kind and {"read_lines", "read_page"} & reader.can
    ]


def find_reader(
    engine: Engine,
    library: Library,
    readers: Iterable[type[Reader]],
    card: str,
    method: Literal["read_page", "read_lines"] | None = None,
) -> tuple[type[Reader] | None, str]:
    """Return the first of *readers* that *card* names, or that has an installed model of that name; or None, and why.
    *method*: what it is to do; default: read pages, or lines if it reads no pages.
    """
    reasons = []
    for reader in sorted(readers, key=lambda reader: reader.name != card):
        model = None if card == reader.name else NameOrMaterialPath(card)
        if model is not None and reader.model_kind is None:
            continue
        does: Any = method or ("read_page" if "read_page" in reader.can else "read_lines")
        try:
            choose(engine, library, reader=reader.name, method=does, model=model)
        except ServiceError as refusal:
            reasons.append(refusal.detail)
        else:
            return reader, ""
    return None, reasons[0] if reasons else "No reader of that kind is installed."


def plan_of(
    conn: Connection, engine: Engine, library: Library, principal: Principal, p: RunParams
) -> dict[str, Any]:
    """Return the plan of an evaluation; Invalid, with the reason, for what cannot be measured soundly."""
    measurables = [
        measurable(engine, library, candidate, pages_may_leave=p.pages_may_leave)
        for candidate in p.candidates
    ]
    kinds = {candidate.reader for candidate in measurables} or {"linereader"}
    not_here: list[dict[str, str]] = []
    if p.add_out_of_the_box:
        measurable_keys = {(candidate.driver, candidate.named) for candidate in measurables}
        for reader in installed_readers(engine):
            if "read_lines" not in reader.can or kind_of(reader) not in kinds or reader.reading_needs_model:
                continue
            why = engine.runtimes.missing(reader) or reader.why_not(p.language)
            if why is not None:
                not_here.append({"model": reader.name, "why": why})
            elif (reader.name, None) not in measurable_keys:
                measurables.append(Measurable(reader.name, kind_of(reader), reader.name))
    if not measurables:
        raise errors.no_candidates()
    trained = [candidate for candidate in measurables if candidate.card is not None]
    pages = _pages(conn, trained, p.held_out_ids)
    checked, missing = _checked_pages(conn, library, principal, pages, p.pass_)
    if not checked:
        raise errors.nothing_checked()
    candidates = [candidate.describe() for candidate in measurables]
    return {"candidates": candidates, "pages": checked, "missing": missing, "not_here": not_here}


def measurable(
    engine: Engine, library: Library, candidate: Candidate, *, pages_may_leave: bool = False
) -> Measurable:
    """Return the candidate if it can be measured here; Invalid, NotFound or Conflict with the reason if not.

    One that another machine serves is refused unless *pages_may_leave*.
    """
    if candidate.reader == VISION and candidate.provider is not None:
        placed = placed_with_provider(engine, candidate.provider, candidate.model, pages_may_leave=True)
        is_far = placed.lane != "local-model"
        if is_far and (not pages_may_leave or library.asks_this_machine_alone):
            raise errors.remote_candidate(candidate.model)
        card = cards.find_card(engine, library, candidate.model)
        return Measurable(
            candidate.model,
            candidate.reader,
            None,
            candidate.provider,
            card=card.card if card else None,
            is_far=is_far,
        )
    if candidate.provider is not None:
        raise errors.remote_candidate(candidate.model)
    able = [
        reader
        for reader in readers_of(installed_readers(engine), candidate.reader)
        if "read_lines" in reader.can
    ]
    place = cards.find_card(engine, library, candidate.model)
    named = candidate.model
    if place is not None:
        able = [reader for reader in able if reader.model_kind == place.store and place.weights is not None][
            :1
        ]
        if not able:
            raise errors.no_reader(named, "Its weights are gone, or no installed reader can use them.")
        named = place.path.name.removesuffix(cards.CARD)
    found, why = find_reader(engine, library, able, named, "read_lines")
    if found is None:
        raise errors.no_reader(candidate.model, why)
    if place is not None:
        return Measurable(place.model_id, candidate.reader, found.name, named=named, card=place.card)
    return Measurable(named, candidate.reader, found.name, named=None if named == found.name else named)


def _pages(conn: Connection, trained: Sequence[Measurable], page_ids: Sequence[str]) -> list[str]:
    """Return the pages to measure on: those named, each held out of every trained candidate, or those all
    their cards hold out.
    """
    for candidate in trained:
        if not _held_out(candidate):
            raise errors.holds_nothing_out(candidate.model)
    if page_ids:
        pages = pages_under(conn, list(page_ids))
    elif trained:
        live_ids = set(conn.execute(select(documents.c.id).where(documents.c.deleted_at.is_(None))).scalars())
        held_out = [
            entry["document_id"] for entry in _held_out(trained[0]) if entry["document_id"] in live_ids
        ]
        pages = [
            page for page in held_out if all(is_new_to(conn, model.card or {}, page) for model in trained)
        ]
    else:
        raise errors.name_pages()
    for page in pages:
        for candidate in trained:
            if not is_new_to(conn, candidate.card or {}, page):
                raise errors.may_have_trained(candidate.model, page)
    return pages


def _held_out(candidate: Measurable) -> list[dict[str, Any]]:
    return cards.pages_on((candidate.card or {}).get("held_out"))


def is_new_to(conn: Connection, card: Mapping[str, Any], page: str) -> bool:
    """Return whether the model of a card held a page out, and neither it nor its bases were trained on what it shows.

    Asked only of models that were trained here; which pages others were trained on is not known.
    """
    relatives = Relatives(conn)
    trained_on = [*cards.trained_on(card), *cards.pages_on(card.get("base_seen"))]
    held_out = cards.pages_on(card.get("held_out"))
    return relatives.are_among(page, held_out) and not relatives.are_among(page, trained_on)


def _checked_pages(
    conn: Connection, library: Library, principal: Principal, pages: Sequence[str], checked: str | None
) -> tuple[list[dict[str, Any]], list[dict[str, str]]]:
    kept_back = find_withheld(library, principal, pages, "local-model")
    entries: list[dict[str, Any]] = []
    missing: list[dict[str, str]] = []
    for page in pages:
        if page in kept_back:
            missing.append({"document_id": page, "why": kept_back[page]})
            continue
        if checksum_of(conn, page) is None:
            missing.append({"document_id": page, "why": NO_PICTURE})
            continue
        lines, _ = checked_lines(conn, page, checked)
        if lines:
            name = conn.execute(select(documents.c.name).where(documents.c.id == page)).scalar()
            entries.append({"document_id": page, "name": name, "lines": len(lines)})
        else:
            missing.append({"document_id": page, "why": "No line of it has a reading that a person checked."})
    twice = Relatives(conn).find_repeats({entry["document_id"]: entry["lines"] for entry in entries})
    missing += [{"document_id": page, "why": REPEATED} for page in sorted(twice)]
    return [entry for entry in entries if entry["document_id"] not in twice], missing
