"""The preparation of a bake-off of readers: its pages, its candidates, and which of them can be scored."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from sqlalchemy import Connection

from armarium.api import Engine, Library, Principal, ServiceError
from armarium_reading.api import load_reader
from armarium_recipes.bakeoffs import refusals
from armarium_recipes.bakeoffs.contenders import choose_contenders
from armarium_recipes.bakeoffs.corrected_pages import CorrectedPages, corrected_pages
from armarium_recipes.bakeoffs.rows import row_of
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.derived_answers import this_machine
from armarium_recipes.project.plan import all_pages
from armarium_recipes.project.saving import read_saved
from armarium_recipes.schemas.bakeoffs import StartBakeoff
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import Answers
from armarium_training.api import MIN_LINES, MIN_PAGES, Candidate, Measurable, is_new_to, kind_of, measurable

JOB = "read-a-line"
PRINT = frozenset({"print"})


@dataclass
class BakeoffPlan:
    """A bake-off of readers or line finders as it is started."""

    material: str
    volume: int
    corrected: CorrectedPages
    rows: list[dict[str, Any]]

    def row(self, step: str, *, promote: bool = False) -> dict[str, Any]:
        """Return the content of its row."""
        return {
            "step": step,
            "material": self.material,
            "volume": self.volume,
            "pages": self.corrected.pages,
            "left_out": self.corrected.left_out,
            "lines": self.corrected.lines,
            "candidates": self.rows,
            "promote": int(promote),
        }


@dataclass
class PlannedBakeoff(BakeoffPlan):
    """A bake-off of readers, with the arguments of `evaluation.run`."""

    evaluation: dict[str, Any]


def plan_bakeoff(
    conn: Connection, engine: Engine, library: Library, principal: Principal, p: StartBakeoff
) -> PlannedBakeoff:
    """Return the bake-off to start. Invalid, with the reason, for too few corrected lines, no answers of
    setup, or if no candidate can be scored.
    """
    corrected = corrected_pages(conn, library, principal, p.page_ids)
    answers = require_ready(conn, corrected)
    material, volume = answers.materials[0], volume_of(conn, answers)
    pages_may_leave = answers.cloud_allowed and principal.kind == "person"
    ranked = rank(
        cards_here(engine, library),
        job=JOB,
        scripts=answers.scripts,
        languages=answers.languages,
        materials=[material],
        memory_gb=answers.memory_gb or this_machine().memory_gb,
        cloud_allowed=answers.cloud_allowed,
    )
    contenders = choose_contenders(
        ranked,
        material=material,
        languages=answers.languages,
        is_print_engine=lambda card: is_print_engine(engine, card),
    )
    language = answers.languages[0] if len(answers.languages) == 1 else None
    rows, able = [], []
    for contender in contenders:
        row = row_of(contender, volume)
        rows.append(row)
        if contender.card is None or row["not_scored"] is not None:
            continue
        if not row["local"] and not pages_may_leave:
            row["not_scored"] = (
                "Pages may not leave this machine, so its price is stated but it was not tried."
                if not answers.cloud_allowed
                else "Only a person can start a bake-off that sends pages to another machine."
            )
            continue
        try:
            subject, candidate = _check_candidate(engine, library, contender.card, language, pages_may_leave)
        except ServiceError as refusal:
            row["not_scored"] = refusal.detail
            continue
        able.append((row, subject, candidate))
    measured = _settle_pages(conn, corrected, able)
    for row, subject, candidate in measured:
        row["power"] = p.power.model_dump() if p.power is not None and row["local"] else None
        trained = subject.card is not None
        row["measured_as"] = {"reader": candidate.reader, "model": subject.model, "trained": trained}
    if not measured:
        raise refusals.no_candidate(rows, corrected.lines, len(corrected.pages))
    evaluation = {
        "candidates": [candidate.model_dump() for _, _, candidate in measured],
        "held_out_ids": [page["document_id"] for page in corrected.pages],
        "add_out_of_the_box": False,
        "language": language,
        "pages_may_leave": pages_may_leave and any(subject.is_far for _, subject, _ in measured),
    }
    return PlannedBakeoff(material, volume, corrected, rows, evaluation)


def require_ready(conn: Connection, corrected: CorrectedPages) -> Answers:
    """Return the answers of setup; Invalid if there are too few corrected lines or no answers."""
    if corrected.lines < MIN_LINES or len(corrected.pages) < MIN_PAGES:
        raise refusals.too_few_lines(corrected.lines, len(corrected.pages))
    answers: Answers | None = read_saved(conn).answers
    if answers is None:
        raise refusals.not_set_up(corrected.lines, len(corrected.pages))
    return answers


def volume_of(conn: Connection, answers: Answers) -> int:
    """Return how many pages the whole work has: the number answered, or the number of pages in the project if
    that is larger.
    """
    return max(answers.pages, len(all_pages(conn)))


def is_print_engine(engine: Engine, card: Card) -> bool:
    """Return whether the reader that runs a card is meant for print only."""
    if card.reader is None:
        return False
    try:
        return load_reader(engine, card.reader).writing == PRINT
    except ServiceError:
        return False


def _check_candidate(
    engine: Engine, library: Library, card: Card, language: str | None, pages_may_leave: bool
) -> tuple[Measurable, Candidate]:
    """Return the card as a candidate of an evaluation; a refusal says why it cannot be one."""
    if card.provider is not None:
        candidate = Candidate(model=card.model or card.name, reader="vision", provider=card.provider)
        return measurable(engine, library, candidate, pages_may_leave=pages_may_leave), candidate
    if card.reader is None:
        raise refusals.reads_no_lines_here(card.id, "No installed reader runs it.")
    reader = load_reader(engine, card.reader)
    if why := reader.why_not(language):
        raise refusals.reads_no_lines_here(card.id, why)
    model = card.reader if reader.model_kind is None else card.model or card.reader
    kind = "vision" if kind_of(reader) == "vision" else "linereader"
    candidate = Candidate(model=model, reader=kind)  # type: ignore[arg-type]
    subject = measurable(engine, library, candidate)
    if subject.driver != card.reader:
        raise refusals.reads_no_lines_here(card.id, f"The model {model} is run by {subject.driver} here.")
    return subject, candidate


Able = tuple[dict[str, Any], Measurable, Candidate]


def _settle_pages(conn: Connection, corrected: CorrectedPages, able: Sequence[Able]) -> list[Able]:
    """Return the candidates to measure, all on the same pages. Pages that a model trained here may have seen
    are left out for all candidates, unless too few would remain; then that model is left out.
    """
    measured = []
    for row, subject, candidate in able:
        if subject.card is not None:
            new = {
                page["document_id"]
                for page in corrected.pages
                if is_new_to(conn, subject.card, page["document_id"])
            }
            lines = sum(page["lines"] for page in corrected.pages if page["document_id"] in new)
            if lines < MIN_LINES or len(new) < MIN_PAGES:
                row["not_scored"] = (
                    "It was trained here, and only pages that were held out of its training, and of what it was trained "
                    f"from, are known to be new to it: {lines} of these corrected lines, on {len(new)} "
                    f"{'page' if len(new) == 1 else 'pages'}. A bake-off needs {MIN_LINES} on {MIN_PAGES}: "
                    "hold out more when it is trained (held_out_ids; armarium train --hold-out PAGE)."
                )
                continue
            corrected.keep(new, f"It was not held out of the training of {row['name']}.")
        measured.append((row, subject, candidate))
    return measured
