"""The import contracts bite: a copy of our packages keeps them all, and each planted import breaks the one it should."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from checkout import ROOT, dists

pytestmark = pytest.mark.slow

LINT = Path(sys.executable).parent / "lint-imports"

MUTANTS = {
    "the core imports a family": ("armarium/ids.py", "import armarium_documents.api", "Tiers"),
    "a lower family imports a higher": ("armarium_documents/errors.py", "import armarium_formats.api", "Tiers"),
    "a family imports a private module of the core": ("armarium_documents/errors.py", "import armarium.db", "the core"),
    "a family imports another's tables": ("armarium_formats/errors.py", "import armarium_documents.models", "documents"),
    "a reader imports a private module": ("armarium_reader_rapidocr/reader.py", "import armarium_reading.jobs", "reading"),
    "a query imports a route": ("armarium_source_model/queries/text.py", "import armarium_source_model.routes", "Rooms"),
    "a library reaches the network": ("armarium/objects.py", "import httpx", "network"),
    "the engine imports torch": ("armarium/engine.py", "import torch", "torch"),
}


@pytest.fixture(scope="module")
def copies(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Our packages in another place."""
    place = tmp_path_factory.mktemp("packages")
    for dist in dists():
        for package in dist.packages:
            shutil.copytree(package, place / package.name, ignore=shutil.ignore_patterns("__pycache__"))
    return place


def broken_contracts(copies: Path) -> list[str]:
    command = [LINT, "--no-cache", "--config", ROOT / ".importlinter"]
    environment = {**os.environ, "PYTHONPATH": str(copies), "COLUMNS": "300"}
    ran = subprocess.run(command, cwd=copies, env=environment, capture_output=True, text=True)
    return re.findall(r"(?m)^(.+) BROKEN", ran.stdout)


def test_what_is_written_keeps_every_contract(copies: Path) -> None:
    assert broken_contracts(copies) == []


@pytest.mark.parametrize(("module", "planted", "contract"), MUTANTS.values(), ids=MUTANTS.keys())
def test_a_planted_import_breaks_its_contract(copies: Path, module: str, planted: str, contract: str) -> None:
    path = copies / module
    sound = path.read_text(encoding="utf-8")
    try:
        path.write_text(f"{sound}\n{planted}\n", encoding="utf-8")
        broken = broken_contracts(copies)
    finally:
        path.write_text(sound, encoding="utf-8")
    assert any(contract in name for name in broken), broken
