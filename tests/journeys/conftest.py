"""Fixtures for the journeys, which use a person's interfaces: HTTP requests to an assembled engine, or the command
line.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from starlette.testclient import TestClient

from armarium.api import Engine, Library
from armarium_demo.samples import SamplePage, sample_pages

Ask = Callable[..., Any]

PAGE_NAMESPACE = "http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15"


@pytest.fixture
def ask(client: TestClient) -> Ask:
    """`ask("GET", path, …)` sends a request as the owner and checks the status; returns its JSON."""

    def send(method: str, path: str, *, status: int = 200, **request: Any) -> Any:
        answer = client.request(method, path, **request)
        assert answer.status_code == status, f"{method} {path}: {answer.status_code} {answer.text[:500]}"
        return answer.json()

    return send


@pytest.fixture
def work(engine: Engine, library: Library) -> Callable[[], None]:
    """Runs all waiting background work."""
    return lambda: engine.jobs.run_until_idle(library)


@pytest.fixture(scope="session")
def pages() -> list[SamplePage]:
    """Three sample pages, small."""
    return sample_pages(count=3, scale=0.4)


@pytest.fixture
def photographs(pages: list[SamplePage], tmp_path: Path) -> Path:
    """A folder with the pictures of the pages."""
    folder = tmp_path / "photographs"
    folder.mkdir()
    for page in pages:
        (folder / f"{page.name}.jpg").write_bytes(page.jpeg)
    return folder


@pytest.fixture(scope="session")
def page_xml() -> Callable[[SamplePage], bytes]:
    """Writes the ground truth of a sample page as a PAGE 2019 file, as another program would."""
    return written_elsewhere


def written_elsewhere(page: SamplePage) -> bytes:
    def points(shape: Any) -> str:
        return " ".join(f"{round(x)},{round(y)}" for x, y in shape)

    regions = []
    for region in page.regions:
        lines = "".join(
            f'<TextLine id="{line.id}"><Coords points="{points(line.polygon)}"/>'
            f'<Baseline points="{points(line.baseline)}"/>'
            f"<TextEquiv><Unicode>{line.text.replace('&', '&amp;').replace('<', '&lt;')}</Unicode></TextEquiv></TextLine>"
            for line in region.lines
        )
        regions.append(
            f'<TextRegion id="{region.id}" type="{region.kind}"><Coords points="{points(region.polygon)}"/>{lines}</TextRegion>'
        )
    return (
        f'<?xml version="1.0" encoding="UTF-8"?><PcGts xmlns="{PAGE_NAMESPACE}"><Metadata><Creator>somebody</Creator>'
        "<Created>2026-01-01T00:00:00Z</Created><LastChange>2026-01-01T00:00:00Z</LastChange></Metadata>"
        f'<Page imageFilename="{page.name}.jpg" imageWidth="{page.width}" imageHeight="{page.height}">'
        f"{''.join(regions)}</Page></PcGts>"
    ).encode()
