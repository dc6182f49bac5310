"""Asks a reconciliation service (W3C Reconciliation Service API 0.2) for names of the project, through the network gate."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal, NamedTuple
from urllib.parse import urlencode, urlsplit

import orjson

from armarium.api import Egress, JobContext, Limits, RetryLater, Unavailable, seconds_to_wait
from armarium_knowledge import errors
from armarium_knowledge.authority_files import Authority

HELD = "knowledge.services"
LEAST_SCORE = 70.0
"""What a candidate that the service does not call its match must reach of 100, alone at the top, to be proposed."""
AT_ONCE = 50
MAX_BYTES = 8 * 1024 * 1024
SECONDS = 60.0


class Proposal(NamedTuple):
    """An entry of the service for a name, and how certain the service is of it, from 0 to 1."""

    entry: Authority
    certainty: float


def check_service(egress: Egress, address: str, *, names_may_leave: bool) -> None:
    """Refuse an address that is none, one elsewhere without consent, and every one elsewhere while the engine is offline."""
    if not egress.leads_here(address):
        egress.check_url(address)
        if not names_may_leave:
            raise errors.names_may_not_leave(urlsplit(address).hostname)


def ask_service(job: JobContext, egress: Egress, address: str, names: Sequence[str]) -> dict[str, Proposal]:
    """Return the one proposal for each of *names* that the service has one for. RetryLater while it is busy."""
    space = job.library.held.get(f"{HELD} {address}")
    if space is None:
        space = _fetch(egress, "GET", address, None).get("identifierSpace")
        space = job.library.held[f"{HELD} {address}"] = space if isinstance(space, str) else ""
    proposals: dict[str, Proposal] = {}
    for at in range(0, len(names), AT_ONCE):
        queries = {
            f"q{number}": {"query": name, "limit": 3} for number, name in enumerate(names[at : at + AT_ONCE])
        }
        answer = _fetch(
            egress, "POST", address, urlencode({"queries": orjson.dumps(queries).decode()}).encode()
        )
        for key, query in queries.items():
            response = answer.get(key)
            proposal = _choose(response.get("result") if isinstance(response, dict) else None, space, address)
            if proposal is not None:
                proposals[str(query["query"])] = proposal
    job.log("info", f"{len(names)} names were sent to {urlsplit(address).hostname}.")
    return proposals


def _fetch(egress: Egress, method: str, address: str, content: bytes | None) -> dict[str, Any]:
    reach: Literal["machine", "public"] = "machine" if egress.leads_here(address) else "public"
    headers = {"accept": "application/json"}
    if content is not None:
        headers["content-type"] = "application/x-www-form-urlencoded"
    limits = Limits(max_bytes=MAX_BYTES, seconds=SECONDS)
    answer = egress.fetch(method, address, headers=headers, content=content, reach=reach, limits=limits)
    host = urlsplit(address).hostname
    if answer.status in (429, 503):
        raise RetryLater(
            f"{host} asks to wait.", seconds=seconds_to_wait(answer.headers.get("retry-after"), 60.0)
        )
    try:
        parsed = orjson.loads(answer.read()) if answer.status == 200 else None
    except orjson.JSONDecodeError:
        parsed = None
    if not isinstance(parsed, dict):
        raise Unavailable(
            f"{host} does not answer as a reconciliation service ({answer.status}); check the address.",
            code="no_reconciliation_service",
        )
    return parsed


def _choose(result: Any, space: str, address: str) -> Proposal | None:
    """Return the candidate that the service calls its match, else the one that is alone at the top with a high score."""
    candidates = (
        [candidate for candidate in result if isinstance(candidate, dict)] if isinstance(result, list) else []
    )
    scored = sorted(
        ((_score(candidate), number, candidate) for number, candidate in enumerate(candidates[:100])),
        key=lambda entry: (-entry[0], entry[1]),
    )
    matches = [entry for entry in scored if entry[2].get("match") is True]
    if len(matches) != 1:
        alone = len(scored) == 1 or (len(scored) > 1 and scored[0][0] > scored[1][0])
        matches = scored[:1] if alone and scored[0][0] >= LEAST_SCORE and not matches else []
    if not matches:
        return None
    score, _, candidate = matches[0]
    identity, name = candidate.get("id"), candidate.get("name")
    if not isinstance(identity, str) or not 0 < len(identity) <= 500 or not isinstance(name, str):
        return None
    uri = identity if ":" in identity else space + identity
    if ":" not in uri or any(sign.isspace() for sign in uri) or len(uri) > 2_000:
        return None
    host = str(urlsplit(space).hostname or urlsplit(address).hostname)
    return Proposal(Authority(uri, host, identity, (name,)), round(score / 100, 3))


def _score(candidate: dict[str, Any]) -> float:
    score = candidate.get("score")
    return min(100.0, max(0.0, float(score))) if isinstance(score, int | float) else 0.0
