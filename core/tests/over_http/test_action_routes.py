"""Routes declared on actions: what they accept and answer over HTTP, how they are described, and which are refused."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Annotated, Any

import pytest
from fastapi import Query
from sqlalchemy import Connection, select

from armarium.api import Engine, Library, Message, Params, Route, query
from armarium.plugin import Plugin
from armarium.plugins.faults import faults_of
from armarium.web.app import create_app
from armarium.web.deferred_routes import DeferredRoute
from armarium.web.routing import routes_of
from armarium_testing import shelf
from armarium_testing.shelf import shelf_plugin

from .conftest import AppClient


def _with_routes(**routes: Route) -> Plugin:
    plugin = shelf_plugin()
    return replace(
        plugin,
        actions=tuple(
            replace(action, route=routes.get(action.name.partition(".")[2])) for action in plugin.actions
        ),
    )


@pytest.fixture
def asker(make_engine: Any) -> AppClient:
    routes = {
        "create": Route("POST", "/api/shelves", status=201),
        "change": Route("PATCH", "/api/shelf-books/{book}", fields={"book": "id"}),
        "add": Route("POST", "/api/shelves/{shelf_id}/books"),
        "clear": Route("DELETE", "/api/shelves/{shelf_id}", fields={"shelf_id": "id"}, name="remove"),
    }
    return AppClient(create_app(engine=make_engine(plugins=[_with_routes(**routes)])))


@pytest.fixture
def at(asker: AppClient, tmp_path: Any) -> str:
    path = str(tmp_path / "P.library")
    assert asker("POST", "/api/library", json={"path": path, "name": "P"}).status == 200
    return path


def test_a_declared_route_is_made_when_it_is_first_asked_for(make_engine: Any, tmp_path: Path) -> None:
    app = create_app(engine=make_engine(plugins=[_with_routes(create=Route("POST", "/api/shelves"))]))
    ask = AppClient(app)
    path = str(tmp_path / "P.library")
    assert ask("POST", "/api/library", json={"path": path, "name": "P"}).status == 200
    (shelves,) = (route for route in routes_of(app.routes) if route.path == "/api/shelves")
    assert isinstance(shelves, DeferredRoute)
    assert not shelves.is_made
    assert ask("GET", "/api/shelves", library=path).status == 405
    assert not shelves.is_made
    for unknown in ("/api/nowhere", "/api/shelves/1/none", "/nowhere"):
        assert (ask("GET", unknown).status, ask("HEAD", unknown).status, ask("POST", unknown).status) == (
            404,
        ) * 3
    there = ask("POST", "/api/shelves/")
    assert (there.status, there.headers["location"].partition("/api")[2]) == (307, "/shelves")
    assert not any(
        route.is_made
        for route in routes_of(app.routes)
        if isinstance(route, DeferredRoute) and "shelves" in route.path
    )
    assert ask("POST", "/api/shelves", json={"nome": "A"}, library=path).status == 422
    assert shelves.is_made
    assert shelves.response_model.__name__.endswith("Written")


def test_the_parameters_come_from_path_and_body_and_the_answer_names_the_step(
    asker: AppClient, at: str
) -> None:
    made = asker("POST", "/api/shelves", json={"name": "A"}, library=at)
    assert made.status == 201
    assert made.json["audit_id"] == made.headers["x-service-audit-id"]
    identity = made.json["id"]
    book = asker("POST", f"/api/shelves/{identity}/books", json={"title": "One"}, library=at).json["id"]

    # Only the fields that were sent are changed: the notes stay.
    assert asker("PATCH", f"/api/shelf-books/{book}", json={"notes": "kept"}, library=at).status == 200
    changed = asker("PATCH", f"/api/shelf-books/{book}", json={"title": "Two"}, library=at)
    assert set(changed.json) == {"audit_id"}
    with asker.engine.libraries.get(at).db.read() as conn:
        assert conn.execute(shelf.books.select()).one()[2:5:2] == ("Two", "kept")

    assert asker("DELETE", f"/api/shelves/{identity}", library=at).status == 200
    with asker.engine.libraries.get(at).db.read() as conn:
        assert conn.execute(shelf.books.select()).all() == []


@pytest.mark.parametrize(
    ("body", "where"),
    [
        ({"title": "One", "shelf_id": "x"}, "body.shelf_id"),
        ({"title": "One", "colour": "red"}, "body.colour"),
        ({}, "body.title"),
        (None, "body"),
    ],
)
def test_what_the_body_may_not_hold_is_refused_by_name(
    asker: AppClient, at: str, body: Any, where: str
) -> None:
    reply = asker("POST", "/api/shelves/s/books", json=body, library=at)
    assert reply.status == 422
    assert where in reply.json["detail"]


def test_refusals_of_the_action_are_the_routes(asker: AppClient, at: str) -> None:
    assert asker("POST", "/api/shelves/none/books", json={"title": "One"}, library=at).status == 404
    assert asker("POST", "/api/shelves", json={"name": "A"}).code == "library_required"
    assert asker("POST", "/api/shelves", json={"name": "A"}, library=at, token=None).status == 401
    assert asker("DELETE", "/api/shelves", library=at).status == 405


def test_the_description_names_body_answer_and_operation(asker: AppClient) -> None:
    document = asker.app.openapi()
    add = document["paths"]["/api/shelves/{shelf_id}/books"]["post"]
    schemas = document["components"]["schemas"]
    body = schemas[add["requestBody"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]]
    assert set(body["properties"]) == {"title", "weight", "notes"}
    assert body["required"] == ["title"]
    answer = add["responses"]["200"]["content"]["application/json"]["schema"]["$ref"].rpartition("/")[2]
    assert schemas[answer]["required"] == ["id", "audit_id"]
    assert add["operationId"] == "shelves_add"
    assert document["paths"]["/api/shelves/{shelf_id}"]["delete"]["operationId"] == "shelves_remove"
    assert "requestBody" not in document["paths"]["/api/shelves/{shelf_id}"]["delete"]


@pytest.mark.parametrize(
    ("route", "words"),
    [
        (Route("POST", "/shelves"), "does not begin with /api/"),
        (Route("POST", "/api/shelves/{colour}"), "takes no colour, for which {colour} stands"),
        ("POST /api/shelves", "give a Route"),
    ],
)
def test_a_wrong_declaration_is_named(route: Any, words: str) -> None:
    assert any(words in fault for fault in faults_of(_with_routes(create=route)))


class _Shelves(Message):
    names: list[str]


@query("/api/shelves/named/{name}", summary="Shelves of a name", answer=_Shelves)
def shelves_named(conn: Connection, name: str, most: Annotated[int, Query(ge=1)] = 10) -> dict[str, Any]:
    """In the order of their names."""
    found = select(shelf.shelves.c.name).where(shelf.shelves.c.name.startswith(name)).limit(most)
    return {"names": list(conn.execute(found).scalars())}


def test_a_query_is_a_get(make_engine: Any, tmp_path: Any) -> None:
    plugin = replace(_with_routes(create=Route("POST", "/api/shelves")), queries=(shelves_named,))
    ask = AppClient(create_app(engine=make_engine(plugins=[plugin])))
    at = str(tmp_path / "P.library")
    ask("POST", "/api/library", json={"path": at, "name": "P"})
    for name in ("A1", "A2", "B"):
        ask("POST", "/api/shelves", json={"name": name}, library=at)
    assert ask("GET", "/api/shelves/named/A", library=at).json == {"names": ["A1", "A2"]}
    assert ask("GET", "/api/shelves/named/A", library=at, query="most=1").json == {"names": ["A1"]}
    assert ask("GET", "/api/shelves/named/A", library=at, query="most=0").status == 422
    assert ask("GET", "/api/shelves/named/A").code == "library_required"
    told = ask.app.openapi()["paths"]["/api/shelves/named/{name}"]["get"]
    assert (told["operationId"], told["description"]) == ("shelves_named", "In the order of their names.")


def _takes_nothing() -> dict[str, Any]:
    return {}


def _takes_no_name(conn: Connection) -> dict[str, Any]:
    return {}


@pytest.mark.parametrize(
    ("function", "words"),
    [
        (_takes_no_name, "mark it with @query"),
        (query("/shelves", summary="x", answer=_Shelves)(lambda conn: {}), "does not begin with /api/"),
        (query("/api/x/{name}", summary="x", answer=_Shelves)(lambda conn: {}), "takes no name"),
        (query("/api/x", summary="x", answer=_Shelves)(_takes_nothing), "takes no connection"),
    ],
)
def test_a_wrong_query_is_named(function: Any, words: str) -> None:
    assert any(words in fault for fault in faults_of(replace(shelf_plugin(), queries=(function,))))


def test_two_actions_cannot_share_a_route() -> None:
    twice = {
        name: Route("POST", "/api/shelves/{id}", fields={"id": field})
        for name, field in (("clear", "id"), ("add", "shelf_id"))
    }
    assert any("is there twice" in fault for fault in faults_of(_with_routes(**twice)))


class _AskedParams(Params):
    beginnings: list[str]


@query("/api/shelves/beginning", summary="Shelves by their beginnings", answer=_Shelves, method="POST")
def shelves_beginning(
    conn: Connection, library: Library, engine: Engine, asked: _AskedParams
) -> dict[str, Any]:
    assert engine.libraries.get(library.path) is library
    names = conn.execute(select(shelf.shelves.c.name)).scalars()
    return {"names": sorted(name for name in names if name.startswith(tuple(asked.beginnings)))}


def test_a_query_may_take_a_body_and_is_given_project_and_engine(make_engine: Any, tmp_path: Any) -> None:
    plugin = replace(_with_routes(create=Route("POST", "/api/shelves")), queries=(shelves_beginning,))
    ask = AppClient(create_app(engine=make_engine(plugins=[plugin])))
    at = str(tmp_path / "P.library")
    ask("POST", "/api/library", json={"path": at, "name": "P"})
    for name in ("A1", "B1", "C1"):
        ask("POST", "/api/shelves", json={"name": name}, library=at)
    reply = ask("POST", "/api/shelves/beginning", json={"beginnings": ["C", "A"]}, library=at)
    assert reply.json == {"names": ["A1", "C1"]}
    assert ask("POST", "/api/shelves/beginning", json={"endings": []}, library=at).status == 422
    assert ask("POST", "/api/shelves/beginning", json={"beginnings": []}).code == "library_required"
    operation = ask.app.openapi()["paths"]["/api/shelves/beginning"]["post"]
    assert "requestBody" in operation
    assert operation["tags"] == ["shelves"]
