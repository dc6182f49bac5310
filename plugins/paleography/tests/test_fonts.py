"""The routes of the bundled fonts; the fonts themselves are tested in their own package."""

from __future__ import annotations

import io

import pytest
from paleography_project import PaleographyProject
from PIL import ImageFont

from armarium.api import bundled_fonts


def test_fonts_are_listed_in_fallback_order_with_their_licences(project: PaleographyProject) -> None:
    answer = project.get("/fonts")
    assert answer["count"] == len(bundled_fonts()) >= 11
    assert [item["order"] for item in answer["items"]] == list(range(1, answer["count"] + 1))
    assert answer["items"][0]["family"] == "Cardo"
    chosen = [answer["items"][place] for place in (0, 1, 2, -5, -1)]
    for one in chosen:
        font = project.client.get(f"/api/fonts/{one['file']}")
        assert font.content == project.client.get(f"/api/fonts/{one['name']}").content
        assert font.headers["content-type"] == ("font/otf" if one["file"].endswith(".otf") else "font/ttf")
        assert ImageFont.truetype(io.BytesIO(font.content), 12).getname()[0]
        licence = project.client.get(f"/api/fonts/{one['licence_file']}")
        assert "SIL OPEN FONT LICENSE" in licence.text.upper(), one
    assert len({item["name"] for item in answer["items"]}) == answer["count"]


@pytest.mark.parametrize(
    "name", ["..", "%2e%2e", "%2e%2e%2fsetup", "..%5c..", "%00", "nowhere.ttf", "Cardo-Regular.ttf%2f.."]
)
def test_an_unknown_font_name_is_404(project: PaleographyProject, name: str) -> None:
    assert project.client.get(f"/api/fonts/{name}").status_code == 404
