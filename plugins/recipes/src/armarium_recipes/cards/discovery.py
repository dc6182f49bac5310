"""How other machines' listings of models are asked: through the engine's one gate, with bounds, and kept for a day in the
`discovery` folder of the models store. What comes from outside is never trusted to have the form it should have."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal
from urllib.parse import urljoin

from armarium.api import Egress, Engine, Limits, ServiceError, Unavailable
from armarium_reading.api import models_folder
from armarium_recipes.schemas.cards import Card

DAY = 24 * 3600.0
"""Seconds for which a listing is kept before it is fetched again."""
REACH: Literal["machine", "network", "public"] = "public"
LISTING = Limits(max_bytes=8 << 20, seconds=20.0, silence=10.0)
AT_ONCE = 6
MOST_REDIRECTS = 5
MAX_KEPT = 32 << 20
"""Bytes of a kept listing; a larger one is not read."""

State = Literal["read", "searched", "cached", "not-searched", "offline", "failed"]


HELD = "The engine is held offline"
HELD_HERE = "This project asks this machine alone (its setting local_only_ai)"
"""Why no other machine is asked, though *online* was said: the beginning of a sentence."""


@dataclass(slots=True)
class FoundCandidates:
    """What a source of candidates gave, and what it did for it, in a sentence."""

    state: State
    detail: str
    cards: list[Card] = field(default_factory=list)


@dataclass(slots=True)
class KeptListing:
    """A listing as it is kept: when it was fetched (seconds since the epoch), and what was in it."""

    fetched_at: float
    entries: list[dict[str, Any]]

    @property
    def is_fresh(self) -> bool:
        """Whether it is younger than a day."""
        return 0 <= time.time() - self.fetched_at < DAY


def folder_of(engine: Engine) -> Path:
    """Where listings are kept."""
    return models_folder(engine, "discovery")


def read_kept(engine: Engine, name: str) -> KeptListing | None:
    """The listing kept under *name*; None where there is none, or what is there is none."""
    path = folder_of(engine) / f"{name}.json"
    try:
        if path.stat().st_size > MAX_KEPT:
            return None
        found = json.loads(path.read_text("utf-8"))
        entries = [one for one in found["entries"] if isinstance(one, dict)]
        return KeptListing(float(found["fetched_at"]), entries)
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None


def kept_names(engine: Engine, begins: str) -> list[str]:
    """The names of the listings that are kept and begin so."""
    try:
        found = sorted(folder_of(engine).glob(f"{begins}*.json"))
    except OSError:
        return []
    return [path.stem for path in found]


def keep(engine: Engine, name: str, entries: Iterable[Mapping[str, Any]], fetched_at: float) -> KeptListing:
    """Keep *entries* under *name*, whole or not at all. A disk without room keeps nothing, and the answer is the same."""
    new = KeptListing(fetched_at, [dict(one) for one in entries])
    path = folder_of(engine) / f"{name}.json"
    beside = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside.write_text(
            json.dumps({"fetched_at": fetched_at, "entries": new.entries}, ensure_ascii=False), "utf-8"
        )
        os.replace(beside, path)
    except OSError:
        beside.unlink(missing_ok=True)
    return new


class Asking:
    """The questions of one search: its connections are shared, for each new one costs the search of certificates."""

    def __init__(self, engine: Engine) -> None:
        self._gate = Egress(local_only=engine.settings.local_only)
        self._client = self._gate.client(reach=REACH, limits=LISTING)

    def __enter__(self) -> Asking:
        return self

    def __exit__(self, *_: object) -> None:
        self._client.close()

    def fetch(self, url: str) -> bytes:
        """The body of an answer. Forbidden, BadRequest or TooLarge as the gate says; Unavailable for any but 200."""
        for _ in range(MOST_REDIRECTS + 1):
            self._gate.check_url(url, REACH)
            try:
                answer = self._client.get(url)
                onward = urljoin(url, answer.headers.get("location", ""))
            except ServiceError:
                raise
            except Exception as error:
                # What the gate does not put into words: an answer that is no HTTP.
                raise Unavailable("It gives no answer that can be used; try again later.") from error
            if not answer.is_redirect:
                break
            url = onward
        if answer.status_code != 200:
            raise Unavailable(f"It answers {answer.status_code}, not the listing; try again later.")
        return answer.content

    def fetch_json(self, url: str) -> Any:
        """As `fetch`, read as JSON; Unavailable for what is none."""
        try:
            return json.loads(self.fetch(url))
        except (ValueError, RecursionError) as error:
            raise Unavailable("It answers something that is no JSON; try again later.") from error

    def all_of(self, fetch_one: Callable[[str], Any], asked: Iterable[str]) -> dict[str, Any]:
        """What *fetch_one* answers to each of *asked*, some at a time; those that were refused are left out."""

        def one(question: str) -> tuple[str, Any]:
            try:
                return question, fetch_one(question)
            except ServiceError:
                return question, None

        with ThreadPoolExecutor(AT_ONCE, thread_name_prefix="discovery") as pool:
            return {question: found for question, found in pool.map(one, asked) if found is not None}


def text_of(value: object, longest: int = 300) -> str:
    """*value* where it is text, in one line and cut; else nothing."""
    return " ".join(value.split())[:longest] if isinstance(value, str) else ""


def texts_of(value: object, most: int = 100) -> list[str]:
    """The texts among *value*, where it is a list; a single one stands for itself."""
    given = [value] if isinstance(value, str) else value if isinstance(value, list) else []
    return [text for one in given[:most] if (text := text_of(one, 100))]


def size_gb(value: object) -> float:
    """A size in bytes as GB; 0 for what cannot be one."""
    is_size = isinstance(value, int | float) and not isinstance(value, bool) and 0 <= value <= 1e13
    return round(float(value) / 1e9, 4) if is_size else 0.0  # type: ignore[arg-type]
