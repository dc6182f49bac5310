"""What the published description says beyond the routes themselves: how to authenticate, and how to name a project."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any

import orjson
from fastapi import FastAPI
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import ConfigDict

from armarium.messages import Message
from armarium.web.routing import routes_of


class ErrorBody(Message):
    """A refusal: `detail` is a sentence, `code` a word for programs; a route may name further fields."""

    model_config = ConfigDict(extra="allow")

    detail: str
    code: str | None = None


SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "Any token: owner, device, session, agent or run.",
    },
    "session": {
        "type": "apiKey",
        "in": "cookie",
        "name": "service_session",
        "description": "A browser's session; its writes need the engine's own Origin.",
    },
}

LIBRARY_PARAMETERS: list[dict[str, Any]] = [
    {
        "name": "X-Service-Library-Path",
        "in": "header",
        "required": False,
        "schema": {"type": "string"},
        "description": "The project: full path of its .library folder, percent-encoded, NFC.",
    },
    {
        "name": "library",
        "in": "query",
        "required": False,
        "schema": {"type": "string"},
        "description": "The same value, where a header cannot be set; both and different is 400.",
    },
]


def operation_id(route: APIRoute) -> str:
    """Return `segments_split`: the first word of the route's path and the name of its function."""
    word = route.path_format.removeprefix("/api/").partition("/")[0].replace("-", "_").strip("{}") or "engine"
    noun = word.rpartition("_")[2]
    verb_parts = [
        part for part in route.name.split("_") if part and part not in (noun, noun.removesuffix("s"))
    ]
    return "_".join([word, *verb_parts]) if verb_parts else f"{word}_{route.name}"


def _name_schemas(document: dict[str, Any]) -> dict[str, Any]:
    """Give each schema in *document* a unique name: where two families use one name, the family's name is put before
    it.

    FastAPI distinguishes them by their modules and leaves their titles alike; client generators use the titles.
    """
    schemas: dict[str, Any] = document["components"]["schemas"]
    names = {key: _schema_name(key) for key in schemas}
    doubled = {name for name, times in Counter(names.values()).items() if times > 1}
    chosen = {key: key if "__" not in key or name in doubled else name for key, name in names.items()}
    text = orjson.dumps(document).decode()
    for key, name in chosen.items():
        if key != name:
            text = text.replace(f'"#/components/schemas/{key}"', f'"#/components/schemas/{name}"')
    named_schemas: dict[str, Any] = orjson.loads(text)
    named_schemas["components"]["schemas"] = {
        chosen[key]: {**schema, "title": chosen[key]} if key != chosen[key] else schema
        for key, schema in named_schemas["components"]["schemas"].items()
    }
    return named_schemas


def _schema_name(key: str) -> str:
    """Return `armarium_images__schemas__SplitBody` as `ImagesSplitBody`; any other key unchanged."""
    module, *between = key.split("__")
    if not between:
        return key
    return "".join(word.title() for word in module.split("_")[1:] or [module]) + between[-1]


def describe(app: FastAPI, *, open_paths: Collection[str], in_project: Collection[Any]) -> None:
    """Make `app.openapi()` also name the security schemes and, on routes of a project, the ways to name it.

    A route belongs to a project when it depends on one of *in_project*.
    """
    generate = app.openapi

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            document = generate()
            components = document.setdefault("components", {})
            components["securitySchemes"] = SCHEMES
            components.setdefault("schemas", {})["ErrorBody"] = ErrorBody.model_json_schema(
                ref_template="#/components/schemas/{model}"
            )
            document = _name_schemas(document)
            with_library = set(_routes_in_a_project(app, in_project))
            for path, operations in document.get("paths", {}).items():
                for method, operation in operations.items():
                    if method == "get" and (path, method) in with_library:
                        _tell_withheld(operation, document)
                    if method == "patch":
                        _drop_defaults(operation, document)
                    if path not in open_paths:
                        operation["security"] = [{"bearer": []}, {"session": []}]
                    if (path, method) in with_library:
                        operation.setdefault("parameters", []).extend(LIBRARY_PARAMETERS)
            app.openapi_schema = document
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]


def _tell_withheld(operation: dict[str, Any], document: dict[str, Any]) -> None:
    """Document that a list counts what is withheld from its caller."""
    answer = operation["responses"].get("200", {}).get("content", {}).get("application/json", {})
    name = answer.get("schema", {}).get("$ref", "").rpartition("/")[2]
    properties = document["components"]["schemas"].get(name, {}).get("properties", {})
    if any(schema.get("type") == "array" for schema in properties.values()):
        properties.setdefault("withheld", WITHHELD)


def _drop_defaults(operation: dict[str, Any], document: dict[str, Any]) -> None:
    """Document that what a PATCH leaves out stays as it is: a client that filled defaults in would change it."""
    content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
    name = content.get("schema", {}).get("$ref", "").rpartition("/")[2]
    for schema in document["components"]["schemas"].get(name, {}).get("properties", {}).values():
        schema.pop("default", None)


WITHHELD = {
    "type": "integer",
    "title": "Withheld",
    "description": "How many items of the whole list, without the filters of the request, the caller may not see; "
    "absent where that alone would tell something of them, and, but for lists with a count, where it is none.",
}

ENGINE_WIDE = (
    *(
        "health",
        "plugins",
        "clients",
        "registry",
        "library",
        "sandbox",
        "pair",
        "auth",
        "tokens",
        "providers",
    ),
    *(
        "local-models",
        "formats",
        "fonts",
        "topics",
        "recipes/jobs",
        "purposes",
        "languages",
        "scripts",
        "derived",
    ),
    *("actions/registry", "settings/compute"),
)
"""First words of the routes that work without a project."""


def _routes_in_a_project(app: FastAPI, in_project: Collection[Any]) -> Iterator[tuple[str, str]]:
    for route in routes_of(app.routes):
        path = route.path_format
        if not path.startswith("/api/"):
            continue
        route_path = path.removeprefix("/api/")
        engine_wide = any(route_path == word or route_path.startswith(f"{word}/") for word in ENGINE_WIDE)
        if not engine_wide or _depends_on(in_project, route.dependant):
            for method in route.methods or ():
                yield path, method.lower()


def _depends_on(functions: Collection[Any], dependant: Dependant) -> bool:
    return any(child.call in functions or _depends_on(functions, child) for child in dependant.dependencies)
