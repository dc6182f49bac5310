"""A project with two pages that have something of every kind, one of them to be restricted, and callers other
than the owner.
"""

from __future__ import annotations

import io
from dataclasses import dataclass, field, replace
from typing import Any

from armarium.api import Engine, Library, branches, copy_project, new_id, raw_of
from armarium.principals import LOCAL_OWNER

WORDS = {"hidden": "Zyxwvuts", "open": "Abcdefgh"}
"""A word that occurs in every text of one page and in none of the other."""

COLOURS = {"hidden": (255, 0, 255), "open": (0, 200, 0)}
MANY_LINES = 2

EDITOR = replace(LOCAL_OWNER, role="editor", name="an editor", token_id="editor-token", token_kind="device")
MACHINE = replace(EDITOR, kind="machine", name="an agent", token_id="agent-token", token_kind="agent")

_PAGE = """<?xml version="1.0" encoding="UTF-8"?>
<PcGts xmlns="http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15">
  <Metadata><Creator>x</Creator><Created>2026-01-01T00:00:00</Created><LastChange>2026-01-01T00:00:00</LastChange></Metadata>
  <Page imageFilename="{name}.png" imageWidth="600" imageHeight="400">
    <TextRegion id="r1"><Coords points="50,40 550,40 550,360 50,360"/>
      <TextLine id="l1"><Coords points="60,60 540,60 540,120 60,120"/><Baseline points="60,110 540,110"/>
        <TextEquiv conf="0.9"><Unicode>{word} first line</Unicode></TextEquiv></TextLine>
      <TextLine id="l2"><Coords points="60,160 540,160 540,220 60,220"/><Baseline points="60,210 540,210"/>
        <TextEquiv conf="0.9"><Unicode>{other} second line</Unicode></TextEquiv></TextLine>
    </TextRegion>
  </Page>
</PcGts>
"""


@dataclass
class Page:
    """A page, and the ids of what belongs to it."""

    id: str
    word: str
    pass_id: str = ""
    lines: list[str] = field(default_factory=list)
    """The first and the second line."""


@dataclass
class RestrictedProject:
    """The project and its two pages: `hidden` is in the folder `box`, `open` is outside it."""

    engine: Engine
    library: Library
    client: Any
    box: str
    pages: dict[str, Page]

    @property
    def hidden_page(self) -> Page:
        return self.pages["hidden"]

    @property
    def open(self) -> Page:
        return self.pages["open"]

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def restrict(self, target_id: str, kind: str = "document", **more: Any) -> dict[str, Any]:
        """Set a restricted record on a target."""
        stated = {"target_kind": kind, "target_id": target_id, "restricted": True, **more}
        return self.do("rights.set", stated)

    def branch(self) -> RestrictedProject:
        """Return a branch of it, made now, with the same pages; its client names the project all the same."""
        branch_id = new_id()
        copied = (self.engine, self.library, "Copy", branch_id, LOCAL_OWNER)
        with copy_project(*copied, action_name="branches.create") as temporary:
            place = branches.place_of_branch(self.library.path, "Copy", branch_id)
            branches.keep(temporary, place)
        return replace(self, library=self.engine.libraries.open_only(place))

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def token(self, role: str = "editor") -> tuple[str, dict[str, str]]:
        """Create an agent's token; return (id, headers)."""
        response = self.client.post("/api/tokens", json={"name": f"a {role}", "role": role})
        assert response.status_code == 200, response.text
        answer = response.json()
        secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
        return answer.get("id") or answer["token_id"], {"Authorization": f"Bearer {secret}"}


def picture(colour: tuple[int, int, int]) -> bytes:
    """Return a picture of one colour."""
    from PIL import Image

    file = io.BytesIO()
    Image.new("RGB", (600, 400), colour).save(file, "PNG")
    return file.getvalue()


def create_project(engine: Engine, library: Library, client: Any) -> RestrictedProject:
    """Create the project."""
    project = RestrictedProject(engine, library, client, "", {})
    project.box = str(project.do("document.create", {"name": "Box"})["id"])
    for name in ("hidden", "open"):
        project.pages[name] = _page(project, name, project.box if name == "hidden" else None)
    engine.jobs.run_until_idle(library, timeout=60)
    for page in project.pages.values():
        _add_everything(project, page)
    engine.jobs.run_until_idle(library, timeout=60)
    return project


def _page(project: RestrictedProject, name: str, parent_id: str | None) -> Page:
    bytes_ = picture(COLOURS[name])
    stored = {
        "checksum": project.library.objects.put_bytes(bytes_),
        "mime_type": "image/png",
        "size_bytes": len(bytes_),
        "pixel_width": 600,
        "pixel_height": 400,
    }
    word = WORDS[name]
    node = {
        "id": new_id(),
        "doc_type": "file",
        "file_type": "image",
        "name": f"{word}.png",
        "picture": stored,
    }
    project.do("document.add_files", {"nodes": [{**node, "parent_id": parent_id or _sources(project)}]})
    page = Page(str(node["id"]), word)
    xml = _PAGE.format(name=word, word=word, other=word)
    sent = {"file": (f"{word}.xml", xml.encode(), "application/xml")}
    answer = project.client.post(f"/api/documents/{page.id}/import", files=sent)
    assert answer.status_code == 200, answer.text
    page.pass_id = answer.json()["pass_id"]
    page.lines = [
        row[0]
        for row in project.rows(
            "SELECT id FROM segment WHERE pass_id = ? AND kind = 'line' ORDER BY bbox_y", page.pass_id
        )
    ]
    assert len(page.lines) == MANY_LINES
    return page


def _sources(project: RestrictedProject) -> str:
    return str(project.do("document.create", {"name": "Beside"})["id"])


def _add_everything(project: RestrictedProject, page: Page) -> None:
    """Add something of every kind to a page, each with the page's word in it."""
    word, line = page.word, page.lines[0]
    post = project.client.post

    def send(path: str, body: dict[str, Any]) -> Any:
        answer = post(path, json=body)
        assert answer.status_code in (200, 201), (path, answer.text)
        return answer.json()

    send(f"/api/segments/{line}/correct", {"text": f"{word} corrected"})
    send(
        "/api/annotations",
        {
            "document_id": page.id,
            "anchor_kind": "paragraph",
            "paragraph_index": 0,
            "kind": "note",
            "text": word,
        },
    )
    send("/api/bookmarks", {"target_id": page.id, "name": f"{word} kept"})
    send("/api/links", {"from_id": line, "to_id": page.lines[1], "link_type": "continues", "note": word})
    send(
        "/api/reading-orders",
        {
            "document_id": page.id,
            "pass_id": page.pass_id,
            "name": word,
            "kind": "imposed",
            "seed_from_pass": True,
        },
    )
    send(f"/api/images/{page.id}/crop", {"left": 0, "top": 0, "width": 200, "height": 100})
    boxes = [{"bbox": [0.1, 0.1, 0.5, 0.1], "text": word, "level": "line"}]
    artifact = {
        "document_id": page.id,
        "artifact_type": "ocr",
        "content": word,
        "ocr_geometry": {"provider": "p", "boxes": boxes},
    }
    project.do("artifact.create", artifact)
    project.do(
        "content_representation.create",
        {"document_id": page.id, "kind": "description", "content": f"{word} whole"},
    )
    note = {"name": f"{word} note", "node_kind": "note", "page_content": f"{word} note", "parent_id": page.id}
    note_made = post("/api/documents", json=note)
    assert note_made.status_code in (200, 201), note_made.text
    with project.library.db.write() as conn:
        from armarium_reading.models import episodes

        told = {"prompt": f"Read {word}", "output": f"{word} read"}
        conn.execute(
            episodes.insert().values(
                id=f"ep_{new_id()}", at="2026-01-01T00:00:00Z", kind="model_call", use_case="read-a-page",
                subject_kind="page", document_id=page.id, provider="p", model="m", exchange=told, attempt=1,
                started_at="2026-01-01T00:00:00Z", seconds=1.0, cost={}, stale_artifact_ids=[], actor="a",
            )
        )  # fmt: skip
        from armarium.jobs.activity import record_activity

        record_activity(conn, "system_info", f"Read {word}", metadata={"document_id": page.id})
