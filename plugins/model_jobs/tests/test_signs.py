"""Signs shown to a model as pictures, and pictures of pages: what is sent, and what is written."""

from __future__ import annotations

import base64
import io
import json
from typing import Any

from model_project import ModelProject
from PIL import Image

from armarium_testing.sample_model_pages import read_page, signed_page


def pictures_in(asked: dict[str, Any]) -> list[Image.Image]:
    """Return the pictures that were sent, in order."""
    parts = [
        part
        for message in asked["body"]["messages"]
        if isinstance(message["content"], list)
        for part in message["content"]
    ]
    urls = [part["image_url"]["url"] for part in parts if part["type"] == "image_url"]
    return [Image.open(io.BytesIO(base64.b64decode(url.partition(",")[2]))) for url in urls]


def signs_of(project: ModelProject, page: str) -> list[str]:
    return [row[0] for row in project.rows("SELECT id FROM segment WHERE document_id = ? ORDER BY id", page)]


def test_each_sign_is_shown_cut_out_and_described(project: ModelProject) -> None:
    page = str(signed_page(project.example)["page_id"])
    first, second = signs_of(project, page)
    project.answers(lambda ids: {"signs": [{"id": second, "is_a": "A notary's\nmark"}]})
    done = project.job("identify-signs", page)
    assert done["state"] == "done", done
    pictures = pictures_in(project.provider.asked[0])
    assert [item.size for item in pictures] == [(60, 60), (60, 60)]
    for picture in pictures:
        grey = picture.convert("L")
        assert grey.getpixel((30, 30)) < 60, "the sign is in the middle of its picture"
        assert grey.getpixel((3, 3)) > 190, "with paper around it"
    json_text = json.dumps(project.provider.asked[0]["body"]["messages"])
    assert json_text.index(first) < json_text.index(second)
    assert project.readings(page, "description") == {second: [("Loopback", "A notary's mark")]}


def test_a_sign_that_is_identified_is_not_asked_about_again(project: ModelProject) -> None:
    page = str(signed_page(project.example)["page_id"])
    first, second = signs_of(project, page)
    project.answers(lambda ids: {"signs": [{"id": first, "is_a": "A cross"}]})
    project.job("identify-signs", page)
    project.answers(lambda ids: {"signs": [{"id": second, "is_a": "A circle"}]})
    project.job("identify-signs", page)
    assert len(pictures_in(project.provider.asked[1])) == 1
    assert project.job("identify-signs", page)["skipped"] == 1
    assert len(project.provider.asked) == 2


def test_a_sign_that_was_not_shown_cannot_be_named(project: ModelProject) -> None:
    elsewhere, page = (str(signed_page(project.example)["page_id"]) for _ in range(2))
    victim = signs_of(project, elsewhere)[0]
    project.answers(lambda ids: {"signs": [{"id": victim, "is_a": "Mine"}]})
    assert project.job("identify-signs", page)["state"] == "failed"
    assert project.readings(elsewhere, "description") == {}


def test_a_missing_picture_is_reported_if_one_was_requested(project: ModelProject) -> None:
    page = str(read_page(project.example)["page_id"])
    done = project.job("ask-a-model", page, prompt="What is drawn here?", picture=True)
    assert done["state"] == "failed"
    assert "picture" in done["reason"]
    assert project.provider.asked == []
