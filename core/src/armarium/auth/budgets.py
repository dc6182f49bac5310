"""What an agent's token may use, and what it has used: requests, writes, pages, minutes, money.

Counted in memory at once and written a moment later; an engine that is killed forgets the last second.
"""

from __future__ import annotations

import threading
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Annotated, Literal, get_args

from pydantic import ConfigDict, Field

from armarium.errors import Forbidden
from armarium.messages import Message, Sent

Spending = Literal["calls", "writes", "pages", "minutes", "cost_usd"]
"""Requests to the engine; steps it makes itself; pages its work went through; minutes that work took; what models of providers
cost.
"""

Count = Annotated[int, Field(ge=0, le=10**12)]
Amount = Annotated[float, Field(ge=0, le=10**9)]

_WORDS: Mapping[Spending, str] = {
    "calls": "{spent:.0f} of {limit:.0f} requests",
    "writes": "{spent:.0f} of {limit:.0f} writes",
    "pages": "{spent:.0f} of {limit:.0f} pages",
    "minutes": "{spent:.1f} of {limit:g} minutes of work",
    "cost_usd": "{spent:.2f} of {limit:.2f} dollars for models of providers",
}


class Budget(Sent):
    """What a token of an agent may use before it is refused; what is left out is not limited."""

    model_config = ConfigDict(extra="forbid")

    calls: Count | None = None
    writes: Count | None = None
    pages: Count | None = None
    minutes: Amount | None = None
    cost_usd: Amount | None = None


class Spent(Message):
    """What a token of an agent has used since it was made."""

    calls: int = 0
    writes: int = 0
    pages: int = 0
    minutes: float = 0.0
    cost_usd: float = 0.0


used_up = Forbidden.saying(
    "budget_used_up",
    "The budget of the agent “{name}” is used up: {what}. The owner can raise it: armarium token budget {token}.",
    budget="kind",
)


@dataclass(slots=True)
class Purse:
    """The budget of one token and what is used of it; safe to use from any thread."""

    token_id: str
    name: str
    limits: Mapping[str, float] = field(default_factory=dict)
    spent: dict[str, float] = field(default_factory=dict)
    unwritten: bool = False
    written: float = 0.0
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def refuse(self, *kinds: Spending) -> None:
        """Raise Forbidden when one of these is used up."""
        for kind in kinds:
            limit = self.limits.get(kind)
            spent = self.spent.get(kind, 0)
            if limit is not None and spent >= limit:
                limit_words = _WORDS[kind].format(spent=spent, limit=limit)
                raise used_up(self.name, limit_words, self.token_id, kind)

    def spend(self, kind: Spending, amount: float = 1) -> None:
        """Record what was used."""
        with self._lock:
            self.spent[kind] = self.spent.get(kind, 0) + amount
            self.unwritten = True

    def take(self, kind: Spending) -> None:
        """Use one of them. Forbidden where none is left."""
        with self._lock:
            self.refuse(kind)
            self.spent[kind] = self.spent.get(kind, 0) + 1
            self.unwritten = True

    @property
    def total(self) -> dict[str, float]:
        """What is used of each, as it is answered."""
        used = {kind: self.spent.get(kind, 0) for kind in get_args(Spending)}
        return {kind: round(amount, 6) for kind, amount in used.items()}
