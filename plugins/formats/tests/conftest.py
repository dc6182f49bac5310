"""Where the tests of formats find real files and the official schema, and what they skip without them."""

from __future__ import annotations

import importlib.util
import os
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lxml import etree

sys.path.insert(0, str(Path(__file__).parent))


def shared_data() -> Path | None:
    """The folder of real files: ARMARIUM_SHARED_DATA, else `shared/data` beside the checkout."""
    stated = os.environ.get("ARMARIUM_SHARED_DATA")
    folder = Path(stated) if stated else Path(__file__).resolve().parents[4] / "shared" / "data"
    return folder if folder.is_dir() else None


def page_files() -> list[Path]:
    """Every file of the shared data with a PcGts root near its beginning."""
    folder = shared_data()
    if folder is None:
        return []
    return [path for path in sorted(folder.rglob("*.xml")) if b"cGts" in path.read_bytes()[:4096]]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    if "page_file" in metafunc.fixturenames:
        files = page_files()
        folder = shared_data()
        if files and folder:
            metafunc.parametrize("page_file", files, ids=[str(path.relative_to(folder)) for path in files])
        else:
            metafunc.parametrize(
                "page_file",
                [
                    pytest.param(
                        None, marks=pytest.mark.skip(reason="no shared data here (set ARMARIUM_SHARED_DATA)")
                    )
                ],
            )


@pytest.fixture(scope="session")
def real_page_files() -> list[Path]:
    """Every real PAGE file; skips where there is no shared data."""
    return page_files() or pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")


@pytest.fixture(scope="session")
def official_schema() -> etree.XMLSchema:
    """The published PAGE 2019-07-15 schema: from ARMARIUM_PAGE_XSD, else from an installed `ocrd` package."""
    from lxml import etree

    stated = os.environ.get("ARMARIUM_PAGE_XSD")
    path = Path(stated) if stated else None
    if path is None:
        spec = importlib.util.find_spec("ocrd_validators")
        path = Path(spec.origin).parent / "page.xsd" if spec and spec.origin else None
    if path is None or not path.is_file():
        pytest.skip("the published page.xsd is not here: install `ocrd` or set ARMARIUM_PAGE_XSD to the file")
    return etree.XMLSchema(etree.parse(str(path)))


@pytest.fixture
def page_document(engine: Any, library: Any) -> str:
    """A page without a picture; its id."""
    from armarium.principals import LOCAL_OWNER

    made = engine.run(library, "document.create", {"name": "0001.jpg", "doc_type": "page"}, LOCAL_OWNER)
    return str(made.result["id"])
