"""Finds the real files and the published schemas for the tests of formats; tests without them are skipped."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from lxml import etree

sys.path.insert(0, str(Path(__file__).parent))

import published_schemas

from armarium_testing.samples import sample_of_files, spread


def shared_data() -> Path | None:
    """Return the folder of real files; None if it does not exist."""
    folder = published_schemas.shared_data()
    return folder if folder.is_dir() else None


def page_files() -> list[Path]:
    """Return every file of the shared data with a PcGts root near its beginning."""
    folder = shared_data()
    if folder is None:
        return []
    return [path for path in sorted(folder.rglob("*.xml")) if b"cGts" in path.read_bytes()[:4096]]


def alto_files() -> list[Path]:
    """Return every file of the shared data with an alto root near its beginning, including the malformed one."""
    folder = shared_data()
    if folder is None:
        return []
    return [path for path in sorted(folder.rglob("*.xml")) if b"<alto" in path.read_bytes()[:4096]]


def tei_files() -> list[Path]:
    """Return every file in a `tei` folder of the shared data that names the TEI namespace near its beginning."""
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
            metafunc.parametrize(name, sample_of_files(files, folder))
        else:
            metafunc.parametrize(
                name,
                [
                    pytest.param(
                        None, marks=pytest.mark.skip(reason="no shared data here (set ARMARIUM_SHARED_DATA)")
                    )
                ],
            )


@pytest.fixture(scope="session", params=["a few of each source", pytest.param("all", marks=pytest.mark.slow)])
def real_page_files(request: pytest.FixtureRequest) -> list[Path]:
    """Real PAGE files; skips without shared data."""
    found = page_files() or pytest.skip("no shared data here (set ARMARIUM_SHARED_DATA)")
    return found if request.param == "all" else spread(found)


@pytest.fixture(scope="session")
def official_schema() -> etree.XMLSchema:
    """The published schema of PAGE 2019-07-15."""
    return published_schemas.xsd("page-2019-07-15.xsd")


@pytest.fixture(scope="session")
def official_alto() -> etree.XMLSchema:
    """The published schema of ALTO 4.4."""
    return published_schemas.xsd("alto-4-4.xsd")


@pytest.fixture(scope="session")
def official_tei() -> etree.RelaxNG:
    """The published schema of TEI P5 with all modules."""
    return published_schemas.rng("tei_all-4.7.0.rng")


@pytest.fixture
def page_document(engine: Any, library: Any) -> str:
    """The id of a page without a picture."""
    from armarium.principals import LOCAL_OWNER

    result = engine.run(library, "document.create", {"name": "0001.jpg", "doc_type": "page"}, LOCAL_OWNER)
    return str(result.result["id"])
