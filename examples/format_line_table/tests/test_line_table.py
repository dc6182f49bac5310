"""The example format is as short as the manual says, passes the driver suite, and is found by the engine when
installed.
"""

from __future__ import annotations

import importlib.util
import os
import re
import site
import subprocess
import sys
import tomllib
from pathlib import Path
from types import ModuleType

import pytest

from armarium_testing.formats import exercise_format

HERE = Path(__file__).resolve().parents[1]
ROOT = HERE.parents[1]
MODULE = HERE / "src" / "armarium_format_line_table" / "__init__.py"
MANUAL = (ROOT / "docs" / "write-a-format.md").read_text(encoding="utf-8")


def blocks(language: str) -> list[str]:
    return re.findall(rf"^```{language}\n(.*?)^```$", MANUAL, re.MULTILINE | re.DOTALL)


def load() -> ModuleType:
    spec = importlib.util.spec_from_file_location("armarium_format_line_table", MODULE)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_it_is_at_most_15_lines_of_python_and_three_of_toml() -> None:
    written_lines = [line for line in MODULE.read_text().splitlines() if line.strip()]
    assert len(written_lines) <= 15
    (toml,) = blocks("toml")
    lines = [line for line in toml.splitlines() if line.strip()]
    assert len(lines) == 3
    pyproject = (HERE / "pyproject.toml").read_text()
    assert all(line in pyproject.splitlines() for line in lines)
    assert tomllib.loads(pyproject)["project"]["entry-points"]["armarium.formats"] == {
        "line-table": "armarium_format_line_table:LineTable"
    }


def test_it_obeys_the_contract() -> None:
    exercise_format(load().LineTable)


def test_the_manual_shows_this_very_class() -> None:
    code = blocks("python")[0].strip()
    assert code in MODULE.read_text()


def test_every_block_of_the_manual_runs() -> None:
    names: dict[str, object] = {"__name__": "manual"}
    for block in blocks("python"):
        exec(compile(block, "write-a-format.md", "exec"), names)
    assert "BoxList" in names


_ASK = """
from armarium.engine import Engine
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium_testing.sample_files import SAMPLE_PAGE
from armarium_formats.queries.exchange import export_page
from pathlib import Path
import sys
place = Path(sys.argv[1])
engine = Engine(Settings(state_dir=place / "state", library_roots=[place]))
engine.start(jobs=False)
engine.run(None, "library.create", {"path": str(place / "T.library")}, LOCAL_OWNER)
library = engine.libraries.get(place / "T.library")
page = engine.run(library, "document.create", {"name": "1.jpg", "doc_type": "page"}, LOCAL_OWNER).result
engine.run(library, "format.import", {"document_id": page["id"], "file": SAMPLE_PAGE}, LOCAL_OWNER)
print(export_page(engine, library, page["id"], "line-table")["content"])
engine.close()
"""


@pytest.mark.slow
def test_the_engine_finds_it_installed_as_a_wheel(tmp_path: Path) -> None:
    uv = Path(sys.executable).with_name("uv")
    if not uv.exists():
        pytest.skip("uv is not in this environment; the wheel is built with it")

    def run(*command: object) -> str:
        clean = {
            name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "VIRTUAL_ENV")
        }
        ran = subprocess.run([str(part) for part in command], env=clean, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        return ran.stdout

    run(
        uv,
        "build",
        "--quiet",
        "--wheel",
        "--no-build-isolation",
        "--python",
        sys.executable,
        "-o",
        tmp_path,
        HERE,
    )
    (wheel,) = tmp_path.glob("*.whl")
    place = tmp_path / "venv"
    run(uv, "venv", "--quiet", "--python", sys.executable, place)
    python = place / "bin" / "python"
    run(uv, "pip", "install", "--quiet", "--offline", "--no-deps", "--python", python, wheel)
    # The engine's packages come from this environment; only the plugin is installed as a wheel in the new
    # one.
    (packages,) = place.glob("lib/python*/site-packages")
    lent = next(folder for folder in site.getsitepackages() if Path(folder).name == "site-packages")
    (packages / "lent.pth").write_text(f"import site; site.addsitedir({lent!r})\n")
    assert run(python, "-c", _ASK, tmp_path) == "line\ttext\nl1\tDear Sir\n\n"
