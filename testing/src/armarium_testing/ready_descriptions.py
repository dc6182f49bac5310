"""The published description of the same routes is made once in a process: it takes seconds, and dozens of tests read it."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from contextlib import contextmanager
from typing import Any
from unittest.mock import patch

import orjson
from fastapi import FastAPI

from armarium.web import http
from armarium.web.openapi import describe
from armarium.web.routing import routes_of


@contextmanager
def described_once() -> Iterator[None]:
    """For the duration of the block, applications of this process whose routes are the same share their description; each
    gets a copy of its own.
    """
    descriptions: dict[Hashable, bytes] = {}

    def describe_once(app: FastAPI, **options: Any) -> None:
        describe(app, **options)
        make = app.openapi

        def openapi() -> dict[str, Any]:
            if app.openapi_schema is None:
                key = tuple(
                    (route.path, frozenset(route.methods or ()), route.endpoint)
                    for route in routes_of(app.routes)
                    if route.include_in_schema
                )
                if key not in descriptions:
                    descriptions[key] = orjson.dumps(make())
                app.openapi_schema = orjson.loads(descriptions[key])
            return app.openapi_schema

        app.openapi = openapi  # type: ignore[method-assign]

    with patch.object(http, "describe", describe_once):
        yield
