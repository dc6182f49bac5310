"""Markup of strangers in every view, in a real browser."""

from __future__ import annotations

import json
import urllib.request
from typing import TYPE_CHECKING
from urllib.parse import quote

from conftest import MARKUP, Desk

if TYPE_CHECKING:
    from playwright.sync_api import Page


def test_markup_of_publishers_models_and_agents_is_text_in_every_view(page: Page, desk: Desk) -> None:
    """In a IIIF manifest, what a machine read, the summary and the branch of an agent, hands, signs and file names."""
    from playwright.sync_api import expect

    ask = desk.engine.ask
    letter = desk.pages["letter.jpg"]
    words = {"none": [MARKUP]}
    canvas = {"id": "https://example.org/c/1", "type": "Canvas", "label": words, "width": 30, "height": 40}
    body = {"id": "https://example.org/i/1/full/max/0/default.jpg", "type": "Image", "format": "image/jpeg"}
    painting = {"id": "https://example.org/a/1", "type": "Annotation", "motivation": "painting"}
    painting |= {"target": canvas["id"], "body": body}
    canvas["items"] = [{"id": "https://example.org/l/1", "type": "AnnotationPage", "items": [painting]}]
    manifest = {"@context": "http://iiif.io/api/presentation/3/context.json", "id": "https://example.org/m"}
    manifest |= {
        "type": "Manifest",
        "label": words,
        "summary": words,
        "items": [canvas],
        "rights": "https://e.org/",
    }
    manifest |= {
        "metadata": [{"label": words, "value": words}],
        "requiredStatement": {"label": words, "value": words},
    }
    fields = f'--x\r\nContent-Disposition: form-data; name="file"; filename="{quote(MARKUP)}.json"\r\n\r\n'
    sent = urllib.request.Request(
        f"{desk.engine.address}/api/iiif/manifests",
        f"{fields}{json.dumps(manifest)}\r\n--x--\r\n".encode(),
        {
            "Content-Type": "multipart/form-data; boundary=x",
            "X-Service-Library-Path": quote(str(desk.engine.library)),
            "Authorization": f"Bearer {(desk.engine.state / 'owner-token').read_text().strip()}",
        },
    )
    with urllib.request.urlopen(sent) as answer:
        imported = json.load(answer)
    (referenced,) = ask("GET", f"/api/documents?parent_id={imported['document_id']}")["items"]
    new_answer = ask("POST", "/api/tokens", {"name": MARKUP[:60], "role": "editor", "model": MARKUP[:60]})
    agent = new_answer["token"]
    line = ask("GET", f"/api/segments/document/{letter}/text")["spans"][0]["segment_id"]
    ask("POST", f"/api/segments/{line}/correct", {"text": MARKUP}, token=agent)
    whose = {"made_for": MARKUP[:60], "for_token": new_answer["id"]}
    branch = ask("POST", "/api/branches", {"name": MARKUP[:60], **whose})
    there = {"token": agent, "library": branch["library_path"]}
    ask("POST", f"/api/segments/{line}/correct", {"text": MARKUP + " again"}, **there)
    ask("POST", f"/api/branches/{branch['id']}/propose", {"summary": MARKUP}, **there)
    hand = ask("POST", "/api/hands", {"label": MARKUP[:60]})
    ask("POST", "/api/signs", {"name": MARKUP[:60], "picture_segment_id": line})
    places = [
        "library", f"library/{imported['document_id']}", f"page/{referenced['id']}", f"page/{letter}", "work",
        "search?q=owned", "search/doubt", "search/words?q=owned", "people", "hands/hands", f"hands/hands?one={hand['id']}",
        "hands/signs", "hands/letters", "maps", "proposals", f"proposals/{branch['id']}", "figures", "export",
        f"export?on={letter},{referenced['id']}", "history", "trash", "settings/devices", "settings/providers",
    ]  # fmt: skip
    seen = {f"page/{letter}", "hands/hands", "hands/signs", "proposals"}
    for place in places:
        page.goto(f"{desk.engine.address}/#/p/{desk.project_id}/{place}")
        page.wait_for_load_state("networkidle")
        if place in seen:
            # As it is spelled.
            expect(page.locator("main"), place).to_contain_text("<img src=x onerror=", use_inner_text=True)
        assert page.locator("img[src='x'], main b, script:not([src])").count() == 0, place
        assert page.title() != "owned", place
