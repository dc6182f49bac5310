"""Fixtures for the reported cases: one engine for all, and a project for each."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine

sys.path.insert(0, str(Path(__file__).parent))

from case_project import CASES, CaseProject


@pytest.fixture(scope="session")
def case_engine(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Engine, Any]]:
    """An engine with every plugin and its client, for all cases."""
    from armarium.settings import Settings
    from armarium_testing.fixtures import OWNER_TOKEN, http_client

    place = tmp_path_factory.getbasetemp()
    roots = [place, *([CASES] if CASES.is_dir() else [])]
    engine = Engine(Settings(state_dir=place / "cases", owner_token=OWNER_TOKEN, library_roots=roots))
    engine.start(jobs=False)
    for client in http_client(engine):
        yield engine, client
    engine.close()


@pytest.fixture
def case(case_engine: tuple[Engine, Any], tmp_path: Path) -> CaseProject:
    """A new project."""
    return CaseProject(*case_engine, tmp_path)
