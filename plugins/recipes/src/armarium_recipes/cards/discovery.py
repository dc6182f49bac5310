"""How the model listings of other machines are requested: through the engine's only gate, within limits, and
cached for a day in the `discovery` folder of the models store. What comes from outside is never trusted to
have the right form.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from armarium.api import Egress, Engine, Limits, ServiceError, Unavailable, replacing
from armarium_reading.api import models_folder
from armarium_recipes.schemas.cards import Card

DAY = 24 * 3600.0
"""Seconds for which a listing is cached before it is fetched again."""
REACH: Literal["machine", "network", "public"] = "public"
LISTING = Limits(max_bytes=8 << 20, seconds=20.0, silence=10.0)
AT_ONCE = 6
MOST_REDIRECTS = 5
MAX_KEPT = 32 << 20
"""The most bytes of a cached listing; a larger one is not read."""

State = Literal["read", "searched", "cached", "not-searched", "offline", "failed"]


HELD = "The engine is set to work offline"
HELD_HERE = "This project uses this machine only (its setting local_only_ai)"
"""Why no other machine is asked despite *online*: the beginning of a sentence."""


@dataclass(slots=True)
class FoundCandidates:
    """The cards from one source of candidates, and a sentence about what was done to get them."""

    state: State
    detail: str
    cards: list[Card] = field(default_factory=list)


@dataclass(slots=True)
class KeptListing:
    """A cached listing: when it was fetched (seconds since the epoch), and its content."""

    fetched_at: float
    entries: list[dict[str, Any]]

    @property
    def is_fresh(self) -> bool:
        """Return whether it is younger than a day."""
        return 0 <= time.time() - self.fetched_at < DAY


def folder_of(engine: Engine) -> Path:
    """Return the folder in which listings are cached."""
    return models_folder(engine, "discovery")


def read_kept(engine: Engine, name: str) -> KeptListing | None:
    """Return the listing cached under *name*; None if there is none, or the file is not a listing."""
    path = folder_of(engine) / f"{name}.json"
    try:
        if path.stat().st_size > MAX_KEPT:
            return None
        listing = json.loads(path.read_text("utf-8"))
        entries = [entry for entry in listing["entries"] if isinstance(entry, dict)]
        return KeptListing(float(listing["fetched_at"]), entries)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def kept_names(engine: Engine, begins: str) -> list[str]:
    """Return the names of the cached listings that begin with the prefix."""
    try:
        paths = sorted(folder_of(engine).glob(f"{begins}*.json"))
    except OSError:
        return []
    return [path.stem for path in paths]


def keep(engine: Engine, name: str, entries: Iterable[Mapping[str, Any]], fetched_at: float) -> KeptListing:
    """Cache *entries* under *name*, whole or not at all. On a full disk nothing is cached, and the answer is
    the same.
    """
    new = KeptListing(fetched_at, [dict(entry) for entry in entries])
    content = json.dumps({"fetched_at": fetched_at, "entries": new.entries}, ensure_ascii=False)
    with suppress(OSError), replacing(folder_of(engine) / f"{name}.json") as beside:
        beside.write_text(content, "utf-8")
    return new


class Asking:
    """The requests of one search; they share connections, because each new one has to load the certificates."""

    def __init__(self, engine: Engine) -> None:
        self._gate = Egress(local_only=engine.settings.local_only)
        self._client = self._gate.client(reach=REACH, limits=LISTING)

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def fetch(self, url: str) -> bytes:
        """Return the body of an answer. Forbidden, BadRequest or TooLarge as the gate says; Unavailable for
        any status but 200.
        """
        for _ in range(MOST_REDIRECTS + 1):
            self._gate.check_url(url, REACH)
            try:
                answer = self._client.get(url)
                onward = urljoin(url, answer.headers.get("location", ""))
            except ServiceError:
                raise
            except Exception as error:
                # The gate has no words for an answer that is not HTTP.
                raise Unavailable("Its answer cannot be used; try again later.") from error
            if not answer.is_redirect:
                break
            url = onward
        if answer.status_code != 200:
            raise Unavailable(f"It answers {answer.status_code} instead of the listing; try again later.")
        return answer.content

    def fetch_json(self, url: str) -> Any:
        """Like `fetch`, parsed as JSON; Unavailable if it is not JSON."""
        try:
            return json.loads(self.fetch(url))
        except (ValueError, RecursionError) as error:
            raise Unavailable("Its answer is not JSON; try again later.") from error

    def all_of(self, fetch_one: Callable[[str], Any], questions: Iterable[str]) -> dict[str, Any]:
        """Return what *fetch_one* answers for each of *questions*, a few at a time, without those that were refused."""

        def ask(question: str) -> tuple[str, Any]:
            try:
                return question, fetch_one(question)
            except ServiceError:
                return question, None

        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="discovery") as pool:
            return {question: answer for question, answer in pool.map(ask, questions) if answer is not None}


def text_of(value: object, longest: int = 300) -> str:
    """Return *value* as one line of limited length if it is text; otherwise an empty text."""
    return " ".join(value.split())[:longest] if isinstance(value, str) else ""


def texts_of(value: object, most: int = 100) -> list[str]:
    """Return the texts in *value* if it is a list; a single text is returned as a list of one."""
    values = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [text for item in values[:most] if (text := text_of(item, 100))]


def size_gb(value: object) -> float:
    """Return a size in bytes as GB; 0 for an invalid size."""
    is_size = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e13
    return round(float(value) / 1e9, 4) if is_size else 0.0  # type: ignore[arg-type]
