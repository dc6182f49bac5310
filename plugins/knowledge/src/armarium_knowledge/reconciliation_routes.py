"""The project's entities as a reconciliation service (W3C Reconciliation Service API 0.2 and the draft of 1.0), for
OpenRefine and the like. It only reads; the token stands in the address, as such programs can be given nothing else.
"""

from __future__ import annotations

from html import escape
from typing import Annotated, Any, Literal
from urllib.parse import quote

from fastapi import Form, Path, Query, Request, Response
from fastapi.exceptions import RequestValidationError
from pydantic import ValidationError

from armarium.api import REFUSALS, CurrentLibrary, NotFound, Router
from armarium_knowledge.queries import reconciling
from armarium_knowledge.queries.entities import entity
from armarium_knowledge.schemas import reconciliation as schemas

LINKED = "/api/reconcile/"
MOST_VALUES, ALL_VALUES = "Most values", "How many values of it are answered at most; 0: all."
LONGEST = 4_000_000
"""The most characters of the questions in one request."""

Edition = Annotated[
    Literal["0.2", "1.0-draft"], Path(description="The edition of the interface that the program speaks")
]
Token = Annotated[str, Path(max_length=200, description="The token of a viewer for one project")]
Prefix = Annotated[str, Query(max_length=1_000)]
Cursor = Annotated[int, Query(ge=0, le=10**6)]
Limit = Annotated[int, Query(ge=1, le=schemas.MOST_CANDIDATES)]

router = Router(
    prefix="/api/reconcile/{token}/{edition}",
    tags=["reconciliation"],
    responses=REFUSALS(401, 403, 404, 409, 422),
)

_HTML: dict[int | str, dict[str, Any]] = {
    200: {"description": "A page", "content": {"text/html": {"schema": {"type": "string"}}}}
}


def _describe_service(request: Request, library: Any, token: str, edition: str) -> dict[str, Any]:
    """Return what the service is and can, in the words of the edition."""
    base = f"{request.url.scheme}://{request.headers['host']}{LINKED}{quote(token, safe='')}/{edition}"
    with library.db.read() as conn:
        types = reconciling.entity_types(conn)

    def at(path: str) -> dict[str, str]:
        return {"service_url": base, "service_path": path}

    manifest = {
        "versions": [edition],
        "name": f"{library.name} (Armarium)",
        "defaultTypes": types,
        "standardizedScore": True,
    }
    limit = {"type": "number", "default": 0, "name": "limit"}
    size = {"width": 430, "height": 220}
    if edition != "0.2":
        settings = [{**limit, "id": "limit", "name": MOST_VALUES, "helpText": ALL_VALUES}]
        return {
            **manifest,
            "view": {"url": f"{base}/preview?id={{id}}"},
            "preview": size,
            "suggest": {"entity": True, "type": True, "property": True},
            "extend": {"proposeProperties": True, "propertySettings": settings},
        }
    address = {"url": f"{base}/preview?id={{{{id}}}}"}
    return {
        **manifest,
        "identifierSpace": "urn:armarium:",
        "schemaSpace": "urn:armarium:entity-type:",
        "view": address,
        "preview": {**address, **size},
        "suggest": {kind: at(f"/suggest/{kind}") for kind in ("entity", "type", "property")},
        "extend": {
            "propose_properties": at("/extend/propose"),
            "property_settings": [{**limit, "label": MOST_VALUES, "help_text": ALL_VALUES}],
        },
    }


def _answer(
    request: Request, library: Any, token: str, edition: str, queries: str | None, extend: str | None
) -> dict[str, Any]:
    try:
        questions = None if queries is None else schemas.QUERIES.validate_json(queries)
        extension = None if extend is None else schemas.ExtendEntities.model_validate_json(extend)
    except ValidationError as error:
        raise RequestValidationError(error.errors(include_input=False, include_context=False)) from None
    if questions is not None:
        with library.db.read() as conn:
            candidates = reconciling.candidates(conn, [query.question() for query in questions.values()])
        return {key: {"result": result} for key, result in zip(questions, candidates, strict=True)}
    if extension is not None:
        answered = _answer_properties(library, extension)
        rows = {
            row["id"]: {prop["id"]: prop["values"] for prop in row["properties"]} for row in answered["rows"]
        }
        return {"meta": answered["meta"], "rows": rows}
    return _describe_service(request, library, token, edition)


def _answer_properties(library: Any, extension: schemas.ExtendEntities) -> dict[str, Any]:
    """Return the properties of entities; of those that are not here, nothing."""
    known_properties = {prop.id: reconciling.PROPERTIES.get(prop.id) for prop in extension.properties}
    with library.db.read() as conn:
        rows = reconciling.visible_entities(conn, extension.ids)
    answered = []
    for entity_id in dict.fromkeys(extension.ids):
        row, properties = rows.get(entity_id), []
        for prop in extension.properties:
            known_property = known_properties[prop.id]
            values = (
                list(known_property.values(row)) if row is not None and known_property is not None else []
            )
            properties.append({"id": prop.id, "values": values[: prop.limit or None]})
        answered.append({"id": entity_id, "properties": properties})
    meta = [
        {"id": key, "name": prop.name if prop is not None else key} for key, prop in known_properties.items()
    ]
    return {"meta": meta, "rows": answered}


@router.get("", summary="The reconciliation service: what it is, or candidates for names")
def reconcile(
    request: Request,
    library: CurrentLibrary,
    token: Token,
    edition: Edition,
    queries: Annotated[
        str | None, Query(max_length=LONGEST, description="Questions by key, as JSON (0.2)")
    ] = None,
    extend: Annotated[
        str | None, Query(max_length=LONGEST, description="Entities and properties, as JSON (0.2)")
    ] = None,
) -> dict[str, Any]:
    """Return the manifest of the service; with `queries` the candidates for each, with `extend` properties of entities."""
    return _answer(request, library, token, edition, queries, extend)


@router.post("", summary="Candidates for names, or properties of entities (0.2)")
def reconcile_form(
    request: Request,
    library: CurrentLibrary,
    token: Token,
    edition: Edition,
    queries: Annotated[str | None, Form(max_length=LONGEST, description="Questions by key, as JSON")] = None,
    extend: Annotated[
        str | None, Form(max_length=LONGEST, description="Entities and properties, as JSON")
    ] = None,
) -> dict[str, Any]:
    """Answer `queries` or `extend` of a form, as programs send them that have many. Nothing is written."""
    return _answer(request, library, token, edition, queries, extend)


@router.post("/match", summary="Candidates for names (draft of 1.0)", response_model_exclude_none=True)
def match(
    library: CurrentLibrary, token: Token, edition: Edition, asked: schemas.DraftQueries
) -> schemas.DraftResults:
    """Return the candidates for each question, in the same order. Nothing is written."""
    with library.db.read() as conn:
        answers = reconciling.candidates(conn, [query.question() for query in asked.queries])
    return schemas.DraftResults.model_validate({"results": [{"candidates": answer} for answer in answers]})


@router.post("/extend", summary="Properties of entities (draft of 1.0)")
def extend(
    library: CurrentLibrary, token: Token, edition: Edition, asked: schemas.ExtendEntities
) -> schemas.DraftExtended:
    """Return the values of the properties for each entity. Nothing is written."""
    return schemas.DraftExtended.model_validate(_answer_properties(library, asked))


@router.get("/extend/propose", summary="Properties that entities can be asked for")
def propose_properties(
    library: CurrentLibrary,
    token: Token,
    edition: Edition,
    type: Prefix | None = None,
    limit: Limit = schemas.MOST_CANDIDATES,
) -> schemas.ProposedProperties:
    """Return them; they are the same for every type."""
    return schemas.ProposedProperties.model_validate(
        {"type": type, "properties": _find_properties("")[:limit]}
    )


@router.get(
    "/suggest/{kind}",
    summary="Entities, types or properties by their beginning",
    response_model_exclude_none=True,
)
def suggest(
    library: CurrentLibrary,
    token: Token,
    edition: Edition,
    kind: Literal["entity", "type", "property"],
    prefix: Prefix = "",
    cursor: Cursor = 0,
    limit: Limit = 10,
) -> schemas.ReconciliationSuggestions:
    """Return those with a name that begins so, `limit` of them from `cursor` on."""
    if kind == "property":
        matches: list[Any] = _find_properties(prefix)[cursor : cursor + limit]
    else:
        with library.db.read() as conn:
            if kind == "entity":
                matches = reconciling.suggested_entities(conn, prefix, cursor, limit)
            else:
                matches = [
                    entity_type
                    for entity_type in reconciling.entity_types(conn)
                    if _begins_with(entity_type["name"], prefix)
                ]
                matches = matches[cursor : cursor + limit]
    return schemas.ReconciliationSuggestions.model_validate({"result": matches})


@router.get("/preview", summary="An entity as a small page", response_class=Response, responses=_HTML)
def preview(
    library: CurrentLibrary, token: Token, edition: Edition, id: Annotated[str, Query(max_length=200)]
) -> Response:
    """Return names, type, description, dates and places of an entity, without links and scripts."""
    with library.db.read() as conn:
        row = reconciling.visible_entities(conn, [id]).get(id)
        if row is None:
            # The refusal of entities, with its sentence; what is not shown is not there.
            entity(conn, id)
            raise NotFound("This entity is not shown: what it rests on was removed.", code="entity_not_found")
    texts = {
        prop.name: "; ".join(str(next(reversed(value.values()))) for value in prop.values(row))
        for prop in reconciling.PROPERTIES.values()
        if prop.id not in ("name", "description")
    }
    lines = [f"<dt>{escape(name)}</dt><dd>{escape(values)}</dd>" for name, values in texts.items() if values]
    names = "; ".join(row["aliases"])
    body = (
        f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(row["canonical_name"])}</title>'
        f"<h1>{escape(row['canonical_name'])}</h1><p>{escape(reconciling.named_type(row['entity_type'])['name'])}"
        f"{': ' + escape(names) if names else ''}</p><p>{escape(row['description'] or '')}</p>"
        f"<dl>{''.join(lines)}</dl></html>"
    )
    policy = {"Content-Security-Policy": "default-src 'none'", "Referrer-Policy": "no-referrer"}
    return Response(body, media_type="text/html", headers=policy)


def _find_properties(prefix: str) -> list[dict[str, str]]:
    listed = ({"id": prop.id, "name": prop.name} for prop in reconciling.PROPERTIES.values())
    return [prop for prop in listed if _begins_with(prop["name"], prefix) or _begins_with(prop["id"], prefix)]


def _begins_with(name: str, prefix: str) -> bool:
    return name.casefold().startswith(prefix.casefold())
