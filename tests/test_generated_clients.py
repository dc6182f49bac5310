"""Programs that make clients from the published description make them of all operations, and what they make works."""

from __future__ import annotations

import importlib
import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest

import openapi
from armarium_testing.fixtures import OWNER_TOKEN
from proofs.storm import ServedEngine, serve

pytestmark = pytest.mark.slow

PACKAGE = "generated_client"
BYTES = "application/octet-stream"
PICTURES = ("image/png", "image/jpeg", "image/webp", "image/*", "application/pdf")
"""Answers that a program takes as bytes; openapi-python-client has to be told so."""


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The description as a file."""
    path = tmp_path_factory.mktemp("description") / "openapi.json"
    path.write_text(openapi.build_document(), encoding="utf-8")
    return path


@pytest.fixture(scope="module")
def python_client(document: Path) -> Iterator[Path]:
    """The package that openapi-python-client makes, ready to be imported."""
    maker = pytest.importorskip(
        "openapi_python_client", reason="openapi-python-client is not here (make dev)"
    )
    from openapi_python_client.config import Config, ConfigFile, MetaType

    stated = ConfigFile(content_type_overrides=dict.fromkeys(PICTURES, BYTES), post_hooks=[])
    package = document.parent / PACKAGE
    faults = maker.generate(
        config=Config.from_sources(stated, MetaType.NONE, document, "utf-8", True, package)
    )
    assert [f"{fault.header} {fault.detail}" for fault in faults] == []
    sys.path.insert(0, str(document.parent))
    yield package
    sys.path.remove(str(document.parent))


def test_every_operation_becomes_a_function_under_its_own_name(document: Path, python_client: Path) -> None:
    paths = json.loads(document.read_text())["paths"].values()
    stated = {operation["operationId"] for methods in paths for operation in methods.values()}
    made = {path.stem for path in python_client.glob("api/*/*.py") if path.stem != "__init__"}
    assert made == stated


@pytest.fixture(scope="module")
def engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ServedEngine]:
    """A running engine with an empty project."""
    with serve(tmp_path_factory.mktemp("engine")) as running:
        yield running


@pytest.fixture(scope="module")
def call(engine: ServedEngine, python_client: Path) -> Callable[..., Any]:
    """Call an operation by its name through the generated client; what it answers, as the client reads it."""
    client = importlib.import_module(f"{PACKAGE}.client").AuthenticatedClient(
        base_url=engine.base_url, token=OWNER_TOKEN, raise_on_unexpected_status=True
    )
    models = importlib.import_module(f"{PACKAGE}.models")

    def ask(operation: str, *path: str, body: tuple[str, dict[str, Any]] | None = None, **asked: Any) -> Any:
        (module,) = python_client.glob(f"api/*/{operation}.py")
        made = importlib.import_module(f"{PACKAGE}.api.{module.parent.name}.{operation}")
        if body is not None:
            asked["body"] = getattr(models, body[0]).from_dict(body[1])
        where = quote(str(engine.library))
        answer = made.sync_detailed(*path, client=client, x_service_library_path=where, **asked)
        assert answer.status_code == 200, answer.content
        return answer.parsed

    return ask


ANCHOR = {"rect": [0.1, 0.1, 0.8, 0.05]}


def test_ten_operations_answer_through_the_generated_client(call: Callable[..., Any]) -> None:
    """A page is made, laid out, read, cited, looked up in the list, ordered, noted on and taken back."""
    page = call("documents_create", body=("CreateParams", {"name": "0001.jpg", "doc_type": "page"}))
    laid = call("segments_pass_create", body=("PassCreate", {"document_id": page.id, "name": "By hand"}))
    line = call(
        "segments_create",
        body=(
            "SegmentCreate",
            {"document_id": page.id, "pass_id": laid.id, "kind": "line", "anchor": ANCHOR},
        ),
    )
    read = call("segments_correct", line.id, body=("CorrectBody", {"text": "Dear Sir,"}))
    text = call("segments_read_text", page.id)
    assert (text.text, text.pass_id) == ("Dear Sir,", laid.id)
    assert text.spans[0].representation_id == read.id
    assert call("segments_reference", line.id).reference.endswith(f"/{page.id}/{line.id}")
    found = call("segments_list_of_page", page.id, area="0,0,0.5,0.5")
    assert [(one.id, one.text, one.bbox_w) for one in found.segments] == [(line.id, "Dear Sir,", 0.8)]
    order = call(
        "reading_orders_create",
        body=(
            "OrderCreate",
            {"document_id": page.id, "pass_id": laid.id, "name": "A", "kind": "x", "seed_from_pass": True},
        ),
    )
    (entry,) = call("reading_orders_list_entries", order.id).items
    assert (entry.segment_id, entry.child_count) == (line.id, 0)
    taken_back = call("actions_undo_one", read.audit_id)
    assert taken_back.audit_id != read.audit_id
    assert call("segments_read_text", page.id).text == ""


def test_typescript_types_are_made_of_all_operations(document: Path) -> None:
    """With openapi-typescript where it is installed already; nothing is fetched."""
    maker = shutil.which("openapi-typescript")
    if maker is None:
        pytest.skip("openapi-typescript is not installed (npm install --global openapi-typescript)")
    out = document.with_suffix(".ts")
    ran = subprocess.run([maker, document, "--output", out], capture_output=True, text=True, timeout=200)
    assert ran.returncode == 0, ran.stderr
    made = out.read_text(encoding="utf-8")
    paths = json.loads(document.read_text())["paths"].values()
    for operation in (operation for methods in paths for operation in methods.values()):
        assert f"\n    {operation['operationId']}: {{" in made
