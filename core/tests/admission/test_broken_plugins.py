"""Dozens of broken plugins in one table: each is refused by name, with a sentence, and affects nothing else."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from urllib.request import urlopen

import pytest
from starlette.testclient import TestClient

from armarium.engine import Engine
from armarium.plugin import OF_THE_ENGINE
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.web.app import create_app
from armarium_testing.fixtures import OWNER_TOKEN

from .admission_fixtures import command, plugins_on_path, serving, settings
from .broken_plugins import DEADLY, MILD, BrokenPlugin, write_all

OURS = {
    *("documents", "source_model", "images", "canvas", "formats", "iiif", "reading", "layout"),
    *("model_jobs", "workflows", "rights", "checking", "training", "search", "knowledge", "agents"),
    *("exports", "sync", "finding", "paleography", "georeference", "recipes", "workbench"),
}
HEADERS = {"Authorization": f"Bearer {OWNER_TOKEN}"}


# Trying them all takes as long as a thousand other tests.
pytestmark = pytest.mark.slow


@dataclass
class ManyPlugins:
    """An engine started with all the harmless ones at once, and a project that was created before they were installed."""

    engine: Engine
    client: TestClient
    older: Path
    found: Any


@pytest.fixture(scope="module")
def many_plugins(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ManyPlugins]:
    home = tmp_path_factory.mktemp("plugins")
    older = home / "Older.library"
    with ExitStack() as stack:
        before = Engine(settings(home))
        before.start(jobs=False)
        before.run(None, "library.create", {"path": str(older)}, LOCAL_OWNER)
        before.close()
        write_all(MILD, home / "site")
        stack.enter_context(plugins_on_path(home / "site"))
        engine = Engine(settings(home))
        client = TestClient(
            create_app(engine=engine, jobs=False),
            base_url="http://127.0.0.1:8765",
            headers=HEADERS,
            client=("127.0.0.1", 50000),
        )
        stack.enter_context(client)
        yield ManyPlugins(engine, client, older, client.get("/api/plugins").json())


@pytest.mark.parametrize("broken", MILD, ids=lambda broken: broken.name)
def test_a_broken_plugin_is_refused_by_name_with_its_reason(
    many_plugins: ManyPlugins, broken: BrokenPlugin
) -> None:
    name = broken.called or (broken.plugin if not broken.entries else broken.name)
    reasons = [
        one["why"]
        for one in (*many_plugins.found["refused"], *many_plugins.found["refused_drivers"])
        if one["name"] == name and one["distribution"] == f"broken-{broken.name}"
    ]
    if broken.words is None:
        assert reasons == []
    else:
        assert any(broken.words in why for why in reasons), reasons or many_plugins.found["refused"]


def test_all_our_plugins_and_a_valid_third_party_one_are_loaded_beside_broken_ones(
    many_plugins: ManyPlugins,
) -> None:
    names = {item["name"] for item in many_plugins.found["items"]}
    assert names >= OURS | {"loud"}
    assert names <= OURS | {"loud", *OF_THE_ENGINE}


def test_projects_are_created_opened_and_examined_beside_broken_plugins(
    many_plugins: ManyPlugins, tmp_path: Path
) -> None:
    new = many_plugins.older.with_name("New.library")
    assert many_plugins.client.post("/api/library", json={"path": str(new)}).status_code == 200
    for place in (many_plugins.older, new):
        here = {"X-Service-Library-Path": str(place)}
        listed = many_plugins.client.get("/api/documents", headers=here).json()
        assert [item["name"] for item in listed["items"]] == ["Sources"]
        assert many_plugins.client.get("/api/library/stats", headers=here).status_code == 200
        answer = many_plugins.client.post("/api/documents", headers=here, json={"name": "Box"}).json()
        assert (
            many_plugins.client.post(
                f"/api/actions/audit/{answer['audit_id']}/undo", headers=here
            ).status_code
            == 200
        )
        assert examine(many_plugins.engine, place)["healthy"]
    assert many_plugins.client.get("/api/actions/registry").status_code == 200
    assert many_plugins.client.get("/openapi.json").status_code == 200
    assert many_plugins.engine.plugins.faults == []


def test_our_own_format_keeps_its_name_beside_broken_plugins(many_plugins: ManyPlugins) -> None:
    driver = many_plugins.engine.drivers.load("armarium.formats", "pagexml")
    assert driver.__module__.startswith("armarium_formats.")
    assert many_plugins.engine.drivers.distribution_of("armarium.formats", "pagexml") == "armarium-formats"


def test_there_are_at_least_forty_kinds_of_broken_plugins() -> None:
    assert len({broken.name for broken in (*MILD, *DEADLY) if broken.words is not None}) >= 40


def _installed_wheel(broken: BrokenPlugin, folder: Path, target: Path) -> None:
    """Build a wheel and install it, as a third party would."""
    source = folder / broken.name
    source.mkdir(parents=True)
    (source / f"{broken.module}.py").write_text(broken.source, encoding="utf-8")
    groups = "".join(
        f'[project.entry-points."{group}"]\n{line.split(" = ")[0]} = "{line.split(" = ")[1]}"\n'
        for group, line in (
            broken.entries or {"armarium.plugins": f"{broken.plugin} = {broken.module}"}
        ).items()
    )
    (source / "pyproject.toml").write_text(
        '[build-system]\nrequires = ["hatchling"]\nbuild-backend = "hatchling.build"\n'
        f'[project]\nname = "broken-{broken.name}"\nversion = "1.0"\n{groups}'
        f'[tool.hatch.build.targets.wheel]\ninclude = ["{broken.module}.py"]\n',
        encoding="utf-8",
    )
    pip = [sys.executable, "-m", "pip", "--quiet", "--no-input", "--disable-pip-version-check"]
    offline = ["--no-index", "--no-deps", "--no-build-isolation"]
    wheels = folder / "wheels"
    subprocess.run([*pip, "wheel", *offline, "--wheel-dir", wheels, source], check=True, capture_output=True)
    (wheel,) = wheels.glob(f"{broken.module}-*.whl")
    subprocess.run([*pip, "install", *offline, "--target", target, wheel], check=True, capture_output=True)


@pytest.mark.timeout(1800)
def test_every_command_works_with_crashing_plugins_installed_as_wheels(tmp_path: Path) -> None:
    """In the program itself: no command imports a plugin that would stop it, and none shows what such a plugin prints."""
    site, mild = tmp_path / "site", {one.name: one for one in MILD}
    wheels = [mild["keyless"], mild["takes-pagexml"], DEADLY[0]]
    for wheel in wheels:
        _installed_wheel(wheel, tmp_path / "built", site)
    others = [mild[name] for name in ("loud", "asks", "deaf", "no-entries", "no-commands", "takes-ls")]
    write_all([*others, *DEADLY[1:]], site)
    older = tmp_path / "Older.library"
    (tmp_path / "nothing").mkdir()
    assert command(tmp_path, tmp_path / "nothing", "create", "Older").returncode == 0

    listed = command(tmp_path, site, "--json", "plugins")
    assert listed.returncode == 0, listed.stderr
    found = json.loads(listed.stdout)
    assert {item["name"] for item in found["items"]} >= OURS | {"loud"}
    for broken in (*DEADLY, *wheels, *others):
        if broken.words is not None:
            reasons = [
                one["why"]
                for one in (*found["refused"], *found["refused_drivers"])
                if one["distribution"] == f"broken-{broken.name}"
            ]
            assert any(broken.words in why for why in reasons), (broken.name, reasons)

    for words in (
        ("create", "Newer"),
        ("--library", str(older), "ls"),
        ("--library", str(tmp_path / "Newer.library"), "--json", "ls"),
        ("doctor", str(older)),
    ):
        ran = command(tmp_path, site, *words)
        assert ran.returncode == 0, (words, ran.stdout, ran.stderr)
        assert "mine" not in ran.stdout
        if "--json" in words:
            json.loads(ran.stdout)
    with serving(tmp_path, site) as address:
        assert urlopen(f"{address}/api/health").status == 200
