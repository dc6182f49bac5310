"""What it takes to work through a given number of pages, by three routes: a provider's model, a reader on
this machine, or a reader taught by the provider's model.

Every figure says whether it was measured (calls in the ledger of this project, scores on cards), is an
estimate from what a card states, or is unknown, and what it is based on.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from sqlalchemy import Connection, select

from armarium_reading.api import episodes
from armarium_recipes.schemas.cards import Card

READING = ("read-a-line", "read-a-page")
MOST_CALLS = 5000
"""How many calls of the ledger are used, newest first."""
TRAINING_FROM = 5000
"""The number of pages from which teaching a reader pays off."""
Basis = Literal["measured", "estimate", "unknown"]


@dataclass(frozen=True, slots=True)
class Figure:
    """A number, whether it was measured, and in words what it is based on."""

    value: float | None
    basis: Basis
    source: str

    def times(self, count: int) -> Figure:
        """Return the same for *count* pages."""
        return Figure(None if self.value is None else self.value * count, self.basis, self.source)

    def answer(self) -> dict[str, Any]:
        """Return the answer; money, seconds and rates need no more than six decimals."""
        return {
            "value": None if self.value is None else round(self.value, 6),
            "basis": self.basis,
            "from": self.source,
        }


@dataclass(frozen=True, slots=True)
class Way:
    """What a model costs and how long it takes for one page, and the share of characters it reads wrong."""

    cost_usd: Figure
    seconds: Figure
    cer: Figure


def sum_of(figures: Sequence[Figure]) -> Figure:
    """Return the sum: unknown if one is unknown, and measured only if all are."""
    unknown = next((figure for figure in figures if figure.value is None), None)
    if unknown is not None:
        return Figure(None, "unknown", unknown.source)
    basis: Basis = "measured" if all(figure.basis == "measured" for figure in figures) else "estimate"
    total = sum(figure.value or 0.0 for figure in figures)
    return Figure(total, basis, "; ".join(dict.fromkeys(figure.source for figure in figures)))


def way_of(conn: Connection, card: Card | None, why_absent: str) -> Way:
    """Return what is known about *card*; without one, everything is unknown, as *why_absent* says."""
    if card is None:
        nothing = Figure(None, "unknown", why_absent)
        return Way(nothing, nothing, nothing)
    calls = _calls(conn, card)
    here = card.runs_where == "this_mac"
    return Way(_cost(card, calls, here), _seconds(conn, card, calls), _cer(card))


@dataclass(frozen=True, slots=True)
class _Calls:
    """Totals of a model's calls in the ledger of the project."""

    pages: int = 0
    seconds: float = 0.0
    usd: float | None = 0.0


def _calls(conn: Connection, card: Card) -> _Calls:
    """Return the totals of calls that read pages, by what the card names: the reader, or the provider and its model."""
    query = select(episodes.c.document_id, episodes.c.seconds, episodes.c.cost).where(
        episodes.c.kind == "model_call",
        episodes.c.use_case.in_(READING),
        episodes.c.provider == (card.provider or card.reader or ""),
    )
    if card.model is not None:
        query = query.where(episodes.c.model == card.model)
    rows = conn.execute(query.order_by(episodes.c.seq.desc()).limit(MOST_CALLS)).all()
    if not rows:
        return _Calls()
    prices = [row.cost.get("usd") for row in rows]
    usd = None if None in prices else float(sum(prices))
    return _Calls(len({row.document_id for row in rows}), sum(row.seconds for row in rows), usd)


def _read_here(calls: _Calls) -> str:
    return f"{calls.pages} page{'s' if calls.pages != 1 else ''} that it read in this project"


def with_measured_speeds(conn: Connection, cards: Iterable[Card]) -> list[Card]:
    """Return the cards with the pages an hour that they read in this project, where they read any: the one speed of a
    reader, in the routes, among the candidates and in the plan.
    """
    read = select(episodes.c.provider).where(
        episodes.c.kind == "model_call", episodes.c.use_case.in_(READING)
    )
    read_pages = set(conn.execute(read.distinct()).scalars())
    with_speeds = []
    for card in cards:
        calls = _calls(conn, card) if (card.provider or card.reader) in read_pages else _Calls()
        if calls.pages and calls.seconds:
            card = card.model_copy(
                update={"pages_per_hour": 3600 * calls.pages / calls.seconds, "speed_measured": True}
            )
        with_speeds.append(card)
    return with_speeds


def _cost(card: Card, calls: _Calls, here: bool) -> Figure:
    if here:
        return Figure(0.0, "measured", "work on this machine is free of charge")
    if calls.pages and calls.usd is not None:
        return Figure(calls.usd / calls.pages, "measured", _read_here(calls))
    if card.cost_per_page is not None:
        return Figure(
            card.cost_per_page, "estimate", f"its price, and the length of a usual page ({card.name})"
        )
    return Figure(None, "unknown", f"the price of {card.name} is unknown")


def _seconds(conn: Connection, card: Card, calls: _Calls) -> Figure:
    (card,) = with_measured_speeds(conn, [card])
    if card.speed_measured and card.pages_per_hour:
        return Figure(3600 / card.pages_per_hour, "measured", _read_here(calls))
    if card.pages_per_hour:
        return Figure(3600 / card.pages_per_hour, "estimate", f"the card of {card.name}")
    return Figure(None, "unknown", f"{card.name} has read no page of this project yet")


def _cer(card: Card) -> Figure:
    if card.cer_measured_here is not None:
        return Figure(card.cer_measured_here, "measured", f"corrected pages on this machine ({card.name})")
    if card.cer_published is not None:
        return Figure(card.cer_published, "estimate", f"what its makers publish of other pages ({card.name})")
    return Figure(None, "unknown", f"{card.name} has not been measured on corrected pages")


def routes_for(
    conn: Connection,
    cards: Sequence[Card],
    *,
    teacher: str | None,
    local_reader: str | None,
    pages: int,
    sample_pages: int,
) -> list[dict[str, Any]]:
    """Return the three routes for *pages*: `cloud`, `this-machine` and `distil`."""
    far = _choose_card(
        cards, teacher, lambda card: card.provider is not None and card.runs_where != "this_mac"
    )
    near = _choose_card(cards, local_reader, lambda card: card.runs_where == "this_mac" and card.installed)
    teaching = way_of(conn, far, _explain_absent("model of a provider", teacher))
    reading = way_of(conn, near, _explain_absent("reader on this machine", local_reader))
    sample = min(sample_pages, pages)
    training = Figure(None, "unknown", "the time for training is known once the sample is corrected")
    few = (
        ""
        if pages >= TRAINING_FROM
        else f" With fewer than {TRAINING_FROM} pages it is rarely worth the work."
    )
    return [
        _route(
            "cloud",
            f"All pages with {_name(far, 'a model of a provider')}",
            pages,
            [teaching.cost_usd.times(pages)],
            [teaching.seconds.times(pages)],
            teaching.cer,
            [f"Send {pages} pages to {_name(far, 'a model of a provider')}."],
            leaves=True,
        ),
        _route(
            "this-machine",
            f"All pages with {_name(near, 'a reader on this machine')}",
            pages,
            [reading.cost_usd.times(pages)],
            [reading.seconds.times(pages)],
            reading.cer,
            [f"Read {pages} pages on this machine with {_name(near, 'a reader on this machine')}."],
            leaves=False,
        ),
        _route(
            "distil",
            "A sample with the provider's model, which teaches the reader on this machine",
            pages,
            [teaching.cost_usd.times(sample), reading.cost_usd.times(pages)],
            [teaching.seconds.times(sample), training, reading.seconds.times(pages)],
            Figure(None, "unknown", "the benefit of training is known once the trained reader is measured"),
            [
                f"Send {sample} pages to {_name(far, 'a model of a provider')}.",
                "Correct what it read.",
                f"Train {_name(near, 'a reader on this machine')} on the corrected lines.{few}",
                f"Read all {pages} pages on this machine with the trained reader.",
            ],
            leaves=True,
        ),
    ]


def _route(
    id: str,
    title: str,
    pages: int,
    cost: Sequence[Figure],
    seconds: Sequence[Figure],
    cer: Figure,
    steps: list[str],
    *,
    leaves: bool,
) -> dict[str, Any]:
    return {
        "id": id,
        "title": title,
        "pages": pages,
        "cost_usd": sum_of(cost).answer(),
        "time_seconds": sum_of(seconds).answer(),
        "accuracy_cer": cer.answer(),
        "steps": steps,
        "leaves_this_machine": leaves,
    }


def _choose_card(cards: Sequence[Card], name: str | None, fits: Callable[[Card], bool]) -> Card | None:
    """Return the card with that id, name, reader or model; without a name, the one measured best,
    otherwise the first.
    """
    able = [card for card in cards if any(job in card.jobs for job in READING) and fits(card)]
    if name is not None:
        folded = name.casefold()
        return next(
            (
                card
                for card in able
                if folded
                in {
                    spelling.casefold()
                    for spelling in (card.id, card.name, card.reader, card.model, card.provider)
                    if spelling
                }
            ),
            None,
        )
    return min(
        able, key=lambda card: 2.0 if card.cer_measured_here is None else card.cer_measured_here, default=None
    )


def _explain_absent(kind: str, name: str | None) -> str:
    return f"no {kind} is here" if name is None else f"no {kind} here is called {name}"


def _name(card: Card | None, kind: str) -> str:
    return kind if card is None else card.name
