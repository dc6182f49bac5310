"""No path that a caller sends leads the engine out of the folders it may use, however it is spelled, linked or swapped.

Tested for every parameter that takes a path: they are found in the OpenAPI document and the actions, so that a new one
fails a test here until it is among `TAKERS`. Files and folders that are read are swapped during the work; a package's
own folder is swapped between two requests.
"""

from __future__ import annotations

import os
import random
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from unittest.mock import patch
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.guard.named_paths import PathRules
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium.settings import Settings
from armarium_testing.fixtures import OWNER_TOKEN, http_client
from proofs.path_world import SECRET, World, watch

FULL = 10_000

Json = dict[str, Any]


class ConfinedEngine:
    """An engine that may use `inside`, a home and a temporary folder beside it, two projects in it, and a client."""

    def __init__(self, folder: Path) -> None:
        self.world = World(folder)
        self.home, self.temporary = folder / "home", folder / "temporary"
        self.home.mkdir()
        self.temporary.mkdir()
        # An engine may use the temporary folder, which contains the folders of tests: so it is replaced by one of this
        # test.
        with (
            patch.dict(os.environ, HOME=str(self.home)),
            patch.object(tempfile, "tempdir", str(self.temporary)),
        ):
            self.engine = Engine(
                Settings(
                    state_dir=folder / "state", owner_token=OWNER_TOKEN, library_roots=[self.world.inside]
                )
            )
        self.engine.start(jobs=False)
        self.library = self.make("Proof")
        self.other = self.make("Other")
        self.rounds = 0

    def make(self, name: str) -> Library:
        place = self.world.inside / f"{name}.library"
        self.engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        return self.engine.libraries.get(place)

    def work(self) -> None:
        """Run what is queued in the project, which a case may have released."""
        self.library = self.engine.libraries.get(self.library.path)
        self.engine.jobs.run_until_idle(self.library, 60)

    def client(self) -> Iterator[TestClient]:
        yield from http_client(self.engine, self.library)


Take = Callable[[TestClient, ConfinedEngine, str], Any]


def post_path(route: str, body: Callable[[str], Json]) -> Take:
    return lambda client, ground, path: client.post(route, json=body(path))


def invoke_with(name: str, params: Callable[[str], Json]) -> Take:
    return post_path("/api/actions/invoke", lambda path: {"name": name, "params": params(path)})


def transfer_from(client: TestClient, ground: ConfinedEngine, path: str) -> Any:
    body = {"source_library": path, "items": ["0" * 32], "dry_run": True}
    return client.post("/api/documents/transfer", json=body)


def upload_to(client: TestClient, ground: ConfinedEngine, path: str) -> Any:
    data = (ground.world.inside / "box" / "good.png").read_bytes() if _whole(ground) else b"x"
    return client.post("/api/documents/import-batch", files=[("files", (path, data, "image/png"))])


def import_from(client: TestClient, ground: ConfinedEngine, path: str) -> Any:
    page = client.get("/api/documents", params={"doc_type": "file"}).json()["items"]
    target = page[0]["id"] if page else "0" * 32
    return client.post(f"/api/documents/{target}/import", files={"file": (path, b"<PcGts/>", "text/xml")})


def _whole(ground: ConfinedEngine) -> bool:
    place = ground.world.inside / "box" / "good.png"
    return place.is_file() and not place.is_symlink()


def name_path(how: str) -> Take:
    def take(client: TestClient, ground: ConfinedEngine, path: str) -> Any:
        written = quote(path, safe="/")
        if how == "query":
            return client.get(
                "/api/documents", params={"library": path}, headers={"X-Service-Library-Path": written}
            )
        return client.get("/api/documents", headers={"X-Service-Library-Path": written})

    return take


TAKERS: dict[str, Take] = {
    "POST /api/documents/import folder": post_path("/api/documents/import", lambda path: {"folder": path}),
    "POST /api/documents/import paths": post_path("/api/documents/import", lambda path: {"paths": [path]}),
    "POST /api/ingest/files paths": post_path("/api/ingest/files", lambda path: {"paths": [path]}),
    "POST /api/ingest/files link": post_path(
        "/api/ingest/files", lambda path: {"paths": [path], "link": True}
    ),
    "POST /api/formats/check path": post_path("/api/formats/check", lambda path: {"path": path}),
    "POST /api/sync-folders path": post_path(
        "/api/sync-folders", lambda path: {"path": path, "formats": ["pagexml"]}
    ),
    "POST /api/tokens folders": post_path("/api/tokens", lambda path: {"name": "x", "folders": [path]}),
    "POST /api/library path": post_path("/api/library", lambda path: {"path": path}),
    "POST /api/library/open path": post_path("/api/library/open", lambda path: {"path": path}),
    "POST /api/registry/release path": post_path("/api/registry/release", lambda path: {"path": path}),
    "DELETE /api/registry/{path}": lambda client, ground, path: client.delete(
        f"/api/registry/{quote(path, safe='')}"
    ),
    "GET /api/registry/resolve name": lambda client, ground, path: client.get(
        "/api/registry/resolve", params={"name": path}
    ),
    "POST /api/documents/transfer source_library": transfer_from,
    "POST /api/documents/import-batch files": upload_to,
    "POST /api/documents/{doc_id}/import file": import_from,
    "X-Service-Library-Path": name_path("header"),
    "library (query)": name_path("query"),
    "POST /api/export/jsonl output_path": post_path("/api/export/jsonl", lambda path: {"output_path": path}),
    "POST /api/export/parquet output_path": post_path(
        "/api/export/parquet", lambda path: {"output_path": path}
    ),
    "POST /api/export/kept folder": post_path(
        "/api/export/kept", lambda path: {"folder": path, "format": "markdown"}
    ),
    "document.import folder": invoke_with("document.import", lambda path: {"folder": path}),
    "ingest.files paths": invoke_with("ingest.files", lambda path: {"paths": [path]}),
    "library.open path": invoke_with("library.open", lambda path: {"path": path}),
    "library.release path": invoke_with("library.release", lambda path: {"path": path}),
    "POST /api/training/reasons prompt_file": post_path(
        "/api/training/reasons",
        lambda path: {
            "scope_ids": ["0" * 32],
            "checked": "x",
            "provider": "x",
            "model": "x",
            "prompt_file": path,
        },
    ),
    "PATCH /api/library/settings snapshot_offsite_path": lambda client, ground, path: client.patch(
        "/api/library/settings", json={"snapshot_offsite_path": path}
    ),
}

SWAPPED = tuple(name for name in TAKERS if re.search(r"import (folder|paths)|ingest|check", name))

KNOWN = {
    *(
        "path",
        "paths",
        "folder",
        "folders",
        "source_library",
        "snapshot_offsite_path",
        "files",
        "file",
        "library",
        "output_path",
        "prompt_file",
    ),
}
"""Fields that contain a path or a file's name, each tested above."""

LASTING = frozenset({"POST /api/sync-folders path", "POST /api/export/kept folder"})
"""Operations that write to their folder later as well, until they are undone."""

OF_ROWS = {
    "compute_place": "a name of a place that computes, `local` or `dask:…`; no file is opened by it",
    "folder_path": "a workflow's folder in the palette",
    "source_path": "a path within what a node put out",
    "output_schema": "a schema of answers",
    "output_cost": "a price",
    "filename": "the name that a sent file had; it is said and compared, never opened",
    "place_values": "places of the world",
    "folder_id": "an id",
    "file_id": "an id",
    "from_path": "a move as the arrangement lists it: what is moved is looked up in the arrangement",
    "to_path": "as the one before",
    "file_type": "a word",
    "file_format": "a word of the Image API in a path",
    "exclude_from_processing": "a flag",
    "profile": "a word",
    "path_ids": "ids",
    "file_types": "words",
    "held_out_ids": "ids",
    "add_out_of_the_box": "a flag",
    "place": "where somebody wrote, in words; and the name of a place of compute",
}
"""Fields whose names sound like paths but which contain none, and why."""

_SOUNDS = re.compile(
    r"(^|_)(path|paths|folder|folders|file|files|filename|destination|directory|dir|location|output|out|place|offsite"
    r"|source_library|library)(_|$)"
)


def fields(schema: Json, definitions: Json, seen: tuple[str, ...] = ()) -> Iterator[str]:
    """Yield the names of all string fields in a JSON Schema."""
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from fields(definitions[name], definitions, (*seen, name))
        return
    for name, one in schema.get("properties", {}).items():
        yield name
        yield from fields(one, definitions, seen)
    for key in ("anyOf", "allOf", "oneOf", "prefixItems"):
        for one in schema.get(key, []):
            yield from fields(one, definitions, seen)
    if isinstance(schema.get("items"), dict):
        yield from fields(schema["items"], definitions, seen)


def test_every_place_that_takes_a_path_is_proved(engine: Engine, client: TestClient) -> None:
    document = client.get("/openapi.json").json()
    found: dict[str, str] = {}
    for path, operations in document["paths"].items():
        for method, operation in operations.items():
            where = f"{method.upper()} {path}"
            for parameter in operation.get("parameters", []):
                found.setdefault(parameter["name"], where)
            for content in operation.get("requestBody", {}).get("content", {}).values():
                for name in fields(content["schema"], document["components"]["schemas"]):
                    found.setdefault(name, where)
    for parameter in engine.actions.describe():
        schema = parameter["params_schema"] if "params_schema" in parameter else parameter["params"]
        for name in fields(schema, schema.get("$defs", {})):
            found.setdefault(name, parameter["name"])
    new = {name: where for name, where in found.items() if _SOUNDS.search(name)}
    new = {name: where for name, where in new.items() if name not in KNOWN | set(OF_ROWS)}
    assert new == {}, "say in TAKERS how these are proved, or in OF_ROWS why they are no paths"
    assert KNOWN - {"file"} <= set(found)


OWN_DOORS = {
    "cli/src/armarium_cli/work.py": "the door itself",
    "plugins/documents/src/armarium_documents/cli/exports.py": "write_exports: each place is asked of the door first",
    "cli/src/armarium_cli/scaffold.py": "a new family is written into an empty folder only",
    "cli/src/armarium_cli/tree.py": "its note lies in the engine's own folder",
    "plugins/source_model/src/armarium_source_model/cli/editing.py": "what the editor opens is a new temporary file",
}
"""Functions of commands that write files, and why they never write under a name that a caller gives."""


def test_commands_write_files_only_through_the_checked_functions() -> None:
    """They use `write_file` or `write_exports`, which are tested in cli/tests/test_written_files.py."""
    root = Path(__file__).parents[2]
    # Writing to the null device writes nowhere.
    writes = re.compile(r"write_bytes\(|write_text\(|open\((?!os\.devnull)[^)]*[\"'][wxa]")
    found = [
        f"{path.relative_to(root)}: {line.strip()}"
        for path in [*root.glob("plugins/*/src/*/cli*"), *root.glob("cli/src/armarium_cli")]
        for file in ([path] if path.is_file() else path.rglob("*.py"))
        if file.relative_to(root).as_posix() not in OWN_DOORS
        for line in file.read_text(encoding="utf-8").splitlines()
        if writes.search(line)
    ]
    assert found == []


def one_case(ground: ConfinedEngine, client: TestClient, chance: random.Random) -> list[str]:
    """Send one path to one parameter, sometimes swapping what it names meanwhile; return what went wrong."""
    world, seen = ground.world, watch()
    name = chance.choice(list(TAKERS))
    path = world.spellings(chance)
    at = chance.choice([1, 1, 2, 3, 4, 6, 9])
    swap = name in SWAPPED and chance.random() < 0.5
    if swap:
        path = str(
            world.inside / "box" / chance.choice(["", "good.png", "page/good.xml", "good.txt", "deep"])
        )
    seen.reached.clear()
    done: list[Path] = []
    if swap:
        with world.swapping(chance, at) as done:
            answer = TAKERS[name](client, ground, path)
            ground.work()
    else:
        answer = TAKERS[name](client, ground, path)
        ground.work()
    if name in LASTING and answer.status_code < 300:
        # Otherwise the sync or export would write again after every later case.
        client.post(f"/api/actions/audit/{answer.json()['audit_id']}/undo")
        ground.work()
    said = f"{name} {path!r} swapped {done} at {at}: {answer.status_code} {answer.text[:300]}"
    wrong = [f"reached {one}: {said}" for one in seen.reached]
    if answer.status_code >= 500:
        wrong.append(f"a server error: {said}")
    if SECRET in answer.text.replace(path, "").replace(str(world.outside), "") and SECRET not in path:
        wrong.append(f"tells of outside: {said}")
    if done:
        world.lay()
    _settle(ground)
    return wrong


def _settle(ground: ConfinedEngine) -> None:
    """Clean up after a case: remove new projects, and reopen the projects that it released."""
    for one in ground.engine.libraries.open_now():
        if one.path.stem not in ("Proof", "Other"):
            ground.engine.libraries.release(one.path)
    for place in ground.world.inside.glob("*.library"):
        if place.stem not in ("Proof", "Other"):
            shutil.rmtree(place, ignore_errors=True)
    ground.library = ground.engine.libraries.get(ground.library.path)


def faults(folder: Path, number: int, seed: int) -> list[str]:
    """Run *number* cases in a world of their own; return what went wrong."""
    ground, chance = ConfinedEngine(folder), random.Random(seed)
    wrong: list[str] = []
    seen = watch()
    try:
        seen.outside = ground.world.outside
        for client in ground.client():
            for _ in range(number):
                wrong += one_case(ground, client, chance)
                if len(wrong) > 20:
                    break
        seen.outside = None
        wrong += _find_leaks(ground)
    finally:
        seen.outside, seen.before = None, None
        ground.engine.close()
    return wrong


def _find_leaks(ground: ConfinedEngine) -> list[str]:
    """Return whether anything from outside is in the project, or anything outside has changed."""
    wrong = [
        f"the canary {canary[:8]} is in the project"
        for canary in ground.world.canaries
        if ground.library.objects.has(canary)
    ]
    with ground.library.db.read() as conn:
        raw = raw_of(conn)
        tables = raw.execute(
            "SELECT content FROM content_representation WHERE content LIKE ?", (f"%{SECRET}%",)
        )
        wrong += [f"the project holds the text {row[0]!r}" for row in tables]
        jobs = raw.execute("SELECT message FROM job_log WHERE message LIKE ?", (f"%{SECRET}%",)).fetchall()
        wrong += [f"the log says {row[0]!r}" for row in jobs]
    if not ground.world.is_untouched():
        wrong.append("outside is not as it was")
    return wrong


def test_nothing_outside_is_reached(tmp_path: Path) -> None:
    assert faults(tmp_path, 200, 1) == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_paths(tmp_path: Path) -> None:
    wrong = []
    for part in range(10):
        wrong += faults(tmp_path / str(part), FULL // 10, 100 + part)
    assert wrong == []


def test_projects_lie_in_the_folders_that_the_engine_may_use_and_in_no_others(tmp_path: Path) -> None:
    """The engine's own list, from its settings, the home and the temporary folder."""
    ground = ConfinedEngine(tmp_path)
    inside, outside = ground.world.inside, ground.world.outside
    (ground.home / "away").symlink_to(outside)
    (tmp_path / "insider").mkdir()
    (tmp_path / "way-in").symlink_to(inside)
    may = [ground.home, ground.temporary, inside, inside / "box"]
    may_not = [
        outside,
        tmp_path,
        tmp_path / "insider",
        ground.home / ".." / "outside",
        ground.home / "away",
        Path("/"),
    ]
    may_not += [
        Path("/etc"),
        Path("/home"),
        inside / "box" / "way" / "sub",
        tmp_path / "way-in",
        Path("~"),
        Path("relative"),
    ]
    try:
        for client in ground.client():
            for number, place in enumerate([*may, *may_not]):
                answer = client.post("/api/library", json={"path": f"{place}/{number}.library"})
                assert (place, answer.status_code) == (place, 200 if number < len(may) else 403), answer.text
    finally:
        ground.engine.close()


# ---------------------------------------------------------------------------- faults that the proof must notice


@pytest.mark.slow
def test_a_link_that_is_followed_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if files were opened by their path, whatever has replaced them."""
    import armarium_documents.pictures as pictures
    import armarium_formats.batches.staging as staging

    for module in (pictures, staging):
        monkeypatch.setattr(module, "open_plain", lambda path, *rules, **more: open(path, "rb"))  # noqa: SIM115
    assert faults(tmp_path, 250, 2)


@pytest.mark.slow
def test_a_folder_that_may_be_any_is_caught(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """As if the rules allowed any place below the folder of the tests."""
    monkeypatch.setattr(PathRules, "material", lambda self, text, principal: Path(os.path.realpath(text)))
    # A relative path would be relative to where the tests are run.
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    assert faults(tmp_path, 250, 1)


# ---------------------------------------------------------------------------------------- packages of third parties


@pytest.mark.parametrize(
    "part", ["objects", "derived", "snapshots", "library.sqlite", "library.json", "objects/ab"]
)
def test_a_package_whose_parts_are_links_is_not_opened(tmp_path: Path, part: str) -> None:
    ground = ConfinedEngine(tmp_path)
    try:
        place = ground.other.path
        ground.engine.libraries.release(place)
        elsewhere = ground.world.outside / "taken"
        if (place / part).exists():
            (place / part).rename(elsewhere)
        else:
            elsewhere.mkdir()
        (place / part).symlink_to(elsewhere)
        for client in ground.client():
            answer = client.post("/api/library/open", json={"path": str(place)})
            assert (answer.status_code, answer.json()["code"]) == (409, "library_damaged")
            assert "is a link to another place" in answer.json()["detail"]
    finally:
        ground.engine.close()


def test_a_package_that_became_a_link_is_not_opened_again(tmp_path: Path) -> None:
    ground = ConfinedEngine(tmp_path)
    try:
        place = ground.other.path
        ground.engine.libraries.release(place)
        place.rename(ground.world.outside / "Other.library")
        place.symlink_to(ground.world.outside / "Other.library")
        for client in ground.client():
            answer = client.get("/api/documents", headers={"X-Service-Library-Path": quote(str(place))})
            assert (answer.status_code, answer.json()["code"]) == (403, "library_access_denied")
    finally:
        ground.engine.close()


def test_links_that_stay_inside_are_allowed(tmp_path: Path) -> None:
    """Links are not refused as such: ordinary files beside the traps are still imported."""
    ground = ConfinedEngine(tmp_path)
    try:
        box = ground.world.inside / "box"
        for client in ground.client():
            client.post("/api/documents/import", json={"folder": str(box)})
            ground.engine.jobs.run_until_idle(ground.library, 60)
        with ground.library.db.read() as conn:
            raw = raw_of(conn)
            names = [
                row[0]
                for row in raw.execute("SELECT name FROM document WHERE doc_type = 'file' ORDER BY name")
            ]
        assert names == ["2.png", "3.png", "good.png", "in.png"]
    finally:
        ground.engine.close()
