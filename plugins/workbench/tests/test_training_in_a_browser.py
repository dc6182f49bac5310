"""A reader is trained on the project's lines, measured, and reads again, in a real browser."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from conftest import Desk, Shot
from test_the_project import check, line_of, show

if TYPE_CHECKING:
    from playwright.sync_api import Page


@pytest.fixture(scope="module")
def program() -> list[str]:
    """An engine whose trainer of the hand reader only follows the protocol."""
    return [sys.executable, str(Path(__file__).with_name("engine_with_a_trainer.py"))]


def test_a_reader_is_trained_measured_and_reads_again(page: Page, desk: Desk, shot: Shot) -> None:
    from playwright.sync_api import expect

    show(page, desk, "figures")
    train = page.get_by_role("region", name="Train a reader on your lines")
    train.get_by_role("combobox", name="Folder").select_option(label="pages")
    train.get_by_label("Lines of").select_option(label="imported files (pagexml)")
    train.get_by_label("Hold out").fill("50")
    train.get_by_role("button", name="Count the lines").click()
    train.get_by_role("textbox", name="Name of the new model").fill("Tomás & <co>")
    train.get_by_role("button", name="Train", exact=True).click()
    models = page.get_by_role("region", name="Trained here")
    expect(models.get_by_text("Tomás & <co>")).to_be_visible()
    models.get_by_text("Tomás & <co>").click()
    expect(models.get_by_role("img", name="Error rate by epoch")).to_be_visible()
    check(page, "figures-model", shot)
    (model,) = desk.engine.ask("GET", "/api/training/models")["items"]
    (held,) = desk.engine.ask("GET", f"/api/training/model?model={model['id']}")["card"]["held_out"]
    # It is measured by what a person checked.
    name = next(name for name, identity in desk.pages.items() if identity == held["document_id"])
    for number in range(3):
        line = line_of(desk, name, number)
        path = f"/api/segments/{line['segment_id']}/correct"
        desk.engine.ask("POST", path, {"text": line["text"] + " ¶"})

    show(page, desk, f"work?on={held['document_id']}")
    page.get_by_role("combobox", name="What", exact=True).select_option(
        label="Measure readers on checked pages"
    )
    page.get_by_role("combobox", name="Reader or model").select_option(label="Tomás & <co>")
    page.get_by_label("beside those that are here").uncheck()
    check(page, "work-start", shot)
    page.get_by_role("button", name="Start it").click()
    expect(page.get_by_text("It has begun.")).to_be_visible()
    show(page, desk, "figures")
    measured = page.get_by_role("region", name="Readers measured")
    expect(measured.get_by_role("heading", name="Letters wrong, page by page")).to_be_visible()
    measured.get_by_role("heading", name="Letters wrong, page by page").scroll_into_view_if_needed()
    check(page, "figures-measured", shot)

    models.get_by_text("Tomás & <co>").click()
    models.get_by_role("combobox", name="Folder").select_option(label="pages")
    models.get_by_role("button", name="Read with it").click()
    expect(page.get_by_text("Work on 3 pages has begun.")).to_be_visible()
    page.get_by_role("button", name="Watch").last.click()
    expect(page.get_by_role("dialog")).to_be_visible()
