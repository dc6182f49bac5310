"""Answers that are given before a request reaches a route."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from armarium.errors import RateLimited, ServiceError, TooLarge, Unauthorized


async def refuse(send: Callable[[Any], Any], refusal: ServiceError) -> None:
    """Answer *refusal* without going through a route."""
    body = orjson.dumps(refusal.body())
    headers = [(b"content-type", b"application/json"), (b"content-length", str(len(body)).encode())]
    headers += [(name.lower().encode(), value.encode()) for name, value in refusal_headers(refusal).items()]
    await send({"type": "http.response.start", "status": refusal.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


def refusal_headers(refusal: ServiceError) -> dict[str, str]:
    """Return the headers of a refusal: how to authenticate, when to retry, that the body was not read."""
    if isinstance(refusal, Unauthorized):
        return {"WWW-Authenticate": "Bearer"}
    if isinstance(refusal, RateLimited):
        return {"Retry-After": str(refusal.retry_after)}
    return {"Connection": "close"} if isinstance(refusal, TooLarge) else {}


async def answer_preflight(send: Callable[[Any], Any]) -> None:
    """Answer what a browser asks before a request from another origin."""
    headers = [
        (b"access-control-allow-methods", b"GET, POST, PUT, PATCH, DELETE"),
        (
            b"access-control-allow-headers",
            b"authorization, content-type, x-service-client, x-service-origin-window, x-service-library-path",
        ),
        (b"access-control-max-age", b"600"),
        (b"content-length", b"0"),
    ]
    await send({"type": "http.response.start", "status": 204, "headers": headers})
    await send({"type": "http.response.body", "body": b""})
