"""Requests to publishers in bulk, politely: one at a time, at their rate, and only what their robots.txt allows."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final, NamedTuple
from urllib.parse import urlsplit

from armarium.api import Egress, Forbidden, Limits, RetryLater, ServiceError, Unavailable, seconds_to_wait
from armarium_iiif.downloads import SECONDS
from armarium_iiif.manifest_reader import MAX_BYTES

if TYPE_CHECKING:
    from urllib.robotparser import RobotFileParser

ACCEPT: Final = 'application/ld+json;profile="http://iiif.io/api/presentation/3/context.json",application/json;q=0.9,*/*;q=0.5'
LONGEST_PAUSE: Final = 30.0
"""Seconds of a stated Crawl-delay that are kept; who states more is asked at this pace."""
_AGENT: Final = "armarium"


class PublisherAnswer(NamedTuple):
    """An answer read whole."""

    status: int
    headers: Mapping[str, str]
    url: str
    data: bytes


class Publisher:
    """The requests of one job. *in_bulk* False: a person named this one address, and no robots.txt is asked for."""

    def __init__(self, egress: Egress, *, in_bulk: bool = True, pause: float = 0.0) -> None:
        self._egress = egress
        self._in_bulk = in_bulk
        self._pause = pause
        self._robots: dict[str, RobotFileParser] = {}
        self._asked_at: dict[str, float] = {}

    def fetch(self, url: str, known: Mapping[str, str] | None = None) -> PublisherAnswer:
        """Return the answer, also 304 where *known* (headers of a conditional request) were given.

        Raises RetryLater when the publisher asks to wait, Forbidden where its robots.txt or X-Robots-Tag says no, Unavailable
        for any other answer, and the refusals of the gate.
        """
        host = "{0.scheme}://{0.netloc}".format(urlsplit(url))
        pause = self._pause
        if self._in_bulk:
            robots = self._robots.get(host) or self._ask_robots(host)
            if not robots.can_fetch(_AGENT, url):
                raise Forbidden(
                    f"The robots.txt of {urlsplit(url).hostname} asks programs not to fetch this address in bulk; import "
                    "it by itself, or ask its publisher.",
                    code="robots",
                )
            pause = max(pause, min(float(robots.crawl_delay(_AGENT) or 0), LONGEST_PAUSE))
        answer = self._ask(host, url, {"accept": ACCEPT, **(known or {})}, pause)
        if answer.status in (429, 503):
            raise RetryLater(
                f"{urlsplit(url).hostname} asks to wait ({answer.status}).",
                seconds=seconds_to_wait(answer.headers.get("retry-after"), 60.0),
            )
        if answer.status != 200 and not (known and answer.status == 304):
            raise Unavailable(
                f"The server answers {answer.status} where the manifest was expected; check the address.",
                code="not_the_manifest",
            )
        robots_tag = answer.headers.get("x-robots-tag", "").casefold()
        if self._in_bulk and any(word in robots_tag for word in ("noarchive", "none")):
            raise Forbidden("Its publisher asks programs to keep no copy (X-Robots-Tag).", code="robots")
        return answer

    def _ask(self, host: str, url: str, headers: Mapping[str, str], pause: float) -> PublisherAnswer:
        wait_seconds = self._asked_at.get(host, 0.0) + pause - time.monotonic()
        if host in self._asked_at and wait_seconds > 0:
            time.sleep(wait_seconds)
        try:
            answer = self._egress.fetch(
                "GET", url, headers=headers, limits=Limits(max_bytes=MAX_BYTES, seconds=SECONDS)
            )
            return PublisherAnswer(answer.status, answer.headers, answer.url, answer.read())
        finally:
            self._asked_at[host] = time.monotonic()

    def _ask_robots(self, host: str) -> RobotFileParser:
        from urllib.robotparser import RobotFileParser

        robots = RobotFileParser()
        lines: list[str] = []
        try:
            answer = self._ask(host, f"{host}/robots.txt", {}, 0.0)
            if answer.status == 200:
                lines = answer.data[:500_000].decode("utf-8", "replace").splitlines()
        except ServiceError as refusal:
            if refusal.code not in ("unreachable", "too_large"):
                raise
        robots.parse(lines)
        self._robots[host] = robots
        return robots
