"""The preparation of a comparison of line finders: the pages, the finders, and which of them can be tried."""

from __future__ import annotations

from dataclasses import dataclass

from sqlalchemy import Connection

from armarium.api import Engine, Library, NameOrMaterialPath, Principal, ServiceError
from armarium_reading.api import choose
from armarium_recipes.bakeoffs import refusals
from armarium_recipes.bakeoffs.contenders import TOP, Contender, kind_of_card
from armarium_recipes.bakeoffs.corrected_pages import corrected_pages
from armarium_recipes.bakeoffs.rows import row_of
from armarium_recipes.bakeoffs.starting import BakeoffPlan, is_print_engine, require_ready, volume_of
from armarium_recipes.cards.ranking import rank
from armarium_recipes.cards.sources import cards_here
from armarium_recipes.knowledge.derived_answers import this_machine
from armarium_recipes.schemas.bakeoffs import CompareFinders
from armarium_recipes.schemas.comparing import Finder

JOB = "find-lines"
STANDS_IN = "rapidocr:"
STANDING_IN = "Its detector stands in for the line finder of an operating system, which does not exist here."
REGIONS = "It finds regions, not lines, so there is nothing to compare."


@dataclass
class PlannedFinders(BakeoffPlan):
    """A comparison of line finders."""

    finders: list[Finder]


def plan_finders(
    conn: Connection, engine: Engine, library: Library, principal: Principal, p: CompareFinders
) -> PlannedFinders:
    """Return the comparison to start. Invalid, with the reason, for too few corrected lines, no answers of
    setup, or if no finder can be tried.
    """
    corrected = corrected_pages(conn, library, principal, p.page_ids)
    answers = require_ready(conn, corrected)
    material, volume = answers.materials[0], volume_of(conn, answers)
    ranked = rank(
        cards_here(engine, library),
        job=JOB,
        scripts=answers.scripts,
        languages=[],
        materials=[material],
        memory_gb=answers.memory_gb or this_machine().memory_gb,
        cloud_allowed=False,
    )
    rows, finders = [], []
    for card in ranked:
        is_best = card.rule_rank is not None and card.rule_rank <= TOP
        why = card.refused.reason if card.refused is not None else None
        if why is None and not card.installed:
            why = card.availability_words
        kind = kind_of_card(card, lambda card: is_print_engine(engine, card))
        row = row_of(Contender(card, kind, "rule-rank" if is_best else "contender", why), volume)
        if card.id.startswith(STANDS_IN):
            row["note"] = " ".join(filter(None, (STANDING_IN, row["note"])))
        rows.append(row)
        if why is not None:
            continue
        try:
            if card.reader is None:
                raise refusals.finds_no_lines_here(card.id)
            model = None if card.model is None else NameOrMaterialPath(card.model)
            choose(engine, library, reader=card.reader, method="find_lines", model=model)
        except ServiceError as refusal:
            row["not_scored"] = refusal.detail
        else:
            finders.append(Finder(card=card.id, reader=card.reader, model=card.model))
    rows.append({**row_of(Contender(None, "linereader", "contender", REGIONS), volume), **_DETECTOR})
    if not finders:
        raise refusals.no_candidate(rows, corrected.lines, len(corrected.pages))
    return PlannedFinders(material, volume, corrected, rows, finders)


_DETECTOR = {"card": "layout:detector@0", "name": "Layout-detection model"}
