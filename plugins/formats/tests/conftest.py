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


def alto_files() -> list[Path]:
    """Every file of the shared data with an alto root near its beginning, the malformed one too."""
    folder = shared_data()
    if folder is None:
        return []
    return [path for path in sorted(folder.rglob("*.xml")) if b"<alto" in path.read_bytes()[:4096]]


def tei_files() -> list[Path]:
    """Every file of the shared data with a TEI root near its beginning, and a bare text in its namespace."""
    folder = shared_data()
    if folder is None:
        return []
    files = [
        path for path in sorted(folder.rglob("*.xml")) if b"tei-c.org/ns/1.0" in path.read_bytes()[:4096]
    ]
    return [path for path in files if "tei" in path.parent.name]


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    for name, find in (("page_file", page_files), ("alto_file", alto_files), ("tei_file", tei_files)):
        if name not in metafunc.fixturenames:
            continue
        files = find()
        folder = shared_data()
        if files and folder:
            metafunc.parametrize(name, files, ids=[str(path.relative_to(folder)) for path in files])
        else:
            metafunc.parametrize(
                name,
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


@pytest.fixture(scope="session")
def official_alto() -> etree.XMLSchema:
    """The published ALTO 4.4 schema: no package brings it, so ARMARIUM_ALTO_XSD says where it lies (xlink.xsd beside it)."""
    from lxml import etree

    stated = os.environ.get("ARMARIUM_ALTO_XSD")
    if not stated or not Path(stated).is_file():
        pytest.skip("the published alto-4-4.xsd is not here: set ARMARIUM_ALTO_XSD to the file")
    return etree.XMLSchema(etree.parse(stated))


@pytest.fixture
def page_document(engine: Any, library: Any) -> str:
    """A page without a picture; its id."""
    from armarium.principals import LOCAL_OWNER

    made = engine.run(library, "document.create", {"name": "0001.jpg", "doc_type": "page"}, LOCAL_OWNER)
    return str(made.result["id"])
