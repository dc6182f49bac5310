"""A third-party plugin that knows nothing of rights: its rows and routes are covered like those of our
families.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from typing import Any

import pytest
from fastapi import APIRouter, Response
from restricted_project import RestrictedProject, create_project
from sqlalchemy import Column, MetaData, Table, Text, select

from armarium.api import (
    ActionContext,
    CurrentLibrary,
    Engine,
    Library,
    Message,
    Params,
    Plugin,
    Rows,
    action,
    append_only,
    json_response,
    query,
    reference,
    tracked,
)
from armarium_documents.api import documents

metadata = MetaData()
visits = Table(
    "guests_visit",
    metadata,
    Column("id", Text, primary_key=True),
    reference("document_id", documents.c.id),
    Column("visitor", Text, nullable=False),
    info=tracked(label="visit", document="document_id"),
)
remarks = Table(
    "guests_remark",
    metadata,
    Column("id", Text, primary_key=True),
    reference("visit_id", visits.c.id),
    info=tracked(label="remark"),
)
looks = Table(
    "guests_look",
    metadata,
    Column("id", Text, primary_key=True),
    Column("page_id", Text),
    info=append_only(),
)
router = APIRouter()


class VisitParams(Params):
    """A visit to an original."""

    document_id: str
    visitor: str
    called: str


@action("guests.note_visit", params=VisitParams, summary="Note who came.")
def note_visit(ctx: ActionContext, p: VisitParams) -> None:
    """Insert a visit, a remark on it, and a look."""
    ctx.conn.execute(
        visits.insert().values(id=f"visit-{p.called}", document_id=p.document_id, visitor=p.visitor)
    )
    ctx.conn.execute(remarks.insert().values(id=f"remark-{p.called}", visit_id=f"visit-{p.called}"))
    ctx.conn.execute(looks.insert().values(id=f"look-{p.called}", page_id=p.document_id))


class GuestList(Message):
    """A list of rows."""

    items: list[Any]
    count: int


@query("/api/guests/{kind}", summary="All of a kind", answer=GuestList)
def list_guests(conn: Any, kind: str) -> dict[str, Any]:
    """Return every row."""
    items = Rows(metadata.tables[f"guests_{kind}"]).all(conn)
    return {"items": items, "count": len(items)}


@router.get("/api/guests/visit/{visit_id}")
def one_visit(library: CurrentLibrary, visit_id: str) -> Response:
    """Answer one visit, in a handwritten route without any check of rights."""
    with library.db.read() as conn:
        row = conn.execute(select(visits.c.visitor).where(visits.c.id == visit_id)).first()
    return json_response({"visitor": None if row is None else row[0]})


@pytest.fixture
def engine(make_engine: Callable[..., Engine]) -> Engine:
    """An engine with every family and the third-party plugin."""
    families = ("documents", "source_model", "images", "canvas", "formats", "iiif", "reading", "rights")
    ours = [importlib.import_module(f"armarium_{name}.plugin").armarium_plugin() for name in families]
    third_party = Plugin(
        name="guests",
        summary="Who came",
        metadata=metadata,
        actions=(note_visit,),
        queries=(list_guests,),
        routers=(router,),
    )
    return make_engine(plugins=[*ours, third_party])


@pytest.fixture
def project(engine: Engine, library: Library, client: Any) -> RestrictedProject:
    """The project, with a visit, a remark and a look for each page."""
    new_project = create_project(engine, library, client)
    for name, page in new_project.pages.items():
        new_project.do("guests.note_visit", {"document_id": page.id, "visitor": page.word, "called": name})
    return new_project


def test_rows_and_routes_of_a_third_party_plugin_are_covered(project: RestrictedProject) -> None:
    _, headers = project.token()
    project.restrict(project.hidden_page.id)

    def list_items(kind: str, given: dict[str, str]) -> tuple[list[str], int]:
        answer = project.client.get(f"/api/guests/{kind}", headers=given).json()
        return sorted(row["id"] for row in answer["items"]), answer.get("withheld", 0)

    for kind in ("visit", "remark", "look"):
        assert list_items(kind, headers) == ([f"{kind}-open"], 1)
        assert list_items(kind, {}) == ([f"{kind}-hidden", f"{kind}-open"], 0)
    refused = project.client.get("/api/guests/visit/visit-hidden", headers=headers)
    assert (refused.status_code, refused.json()["code"]) == (403, "rights_restricted")
    assert project.client.get("/api/guests/visit/visit-open", headers=headers).json() == {
        "visitor": project.open.word
    }
    assert project.client.get("/api/guests/visit/visit-hidden").json() == {
        "visitor": project.hidden_page.word
    }
