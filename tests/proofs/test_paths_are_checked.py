"""No parameter that names a path leads into an engine's state, a project's package, a home's dot folders, or beyond a
token's folders: tested for every action and every route that has one, third-party ones among them.

The parameters are found by their type in the actions and the OpenAPI document, so that a new one is tested
automatically.
"""

from __future__ import annotations

import os
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.api import Engine, Library, Params, ShownPath, raw_of
from armarium.guard.named_paths import DECLARED, undeclared_paths
from armarium.principals import LOCAL_OWNER
from armarium.settings import Settings
from armarium_testing.fixtures import OWNER_TOKEN, http_client
from proofs.path_world import picture
from proofs.third_party_paths import STRANGE, look

Json = dict[str, Any]


# ------------------------------------------------------------------------------------------------- a third-party plugin


def strange_params(path: str) -> Json:
    return {"shelves": [{"places": {"a": [path]}}]}


# -------------------------------------------------------------------------------------------------------------- the
# engine


class CheckedPaths:
    """An engine with all plugins and the third-party one, a home of its own, two projects, and material beside them."""

    def __init__(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        self.folder = folder.resolve()
        self.home = self.folder / "home"
        self.home.mkdir()
        monkeypatch.setenv("HOME", str(self.home))
        self.state = self.folder / "state"
        self.engine = Engine(
            Settings(state_dir=self.state, owner_token=OWNER_TOKEN, library_roots=[self.folder])
        )
        self.engine.plugins.add(STRANGE)
        self.engine.actions.add(look, "strange")
        self.engine.start(jobs=False)
        self.first, self.second = self.make("P1"), self.make("P2")
        self.granted, self.beside = self.folder / "granted", self.folder / "beside"
        for place in (self.granted, self.beside):
            place.mkdir()
            (place / "owner-token.png").write_bytes(picture(90))
        self.engine.run(self.first, "document.import", {"folder": str(self.beside)}, LOCAL_OWNER)
        self.engine.jobs.run_until_idle(self.first, 60)
        self.rest()
        self.clients = http_client(self.engine, self.second)
        self.client: TestClient = next(self.clients)

    def make(self, name: str) -> Library:
        place = self.folder / f"{name}.library"
        self.engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
        return self.engine.libraries.get(place)

    def token(self, **more: Any) -> str:
        """Make an agent's token, as the owner does."""
        body = {"name": "agent", "role": "editor", **more}
        response = self.client.post("/api/tokens", json=body)
        assert response.status_code == 200, response.text
        return str(response.json()["token"])

    def object(self, library: Library) -> Path:
        return next(path for path in library.objects.root.glob("??/*") if path.is_file())

    def closed_places(self) -> dict[str, Path]:
        """Return the places that no caller may reach, by every kind of path."""
        secret = self.state / "owner-token"
        ssh = self.home / ".ssh"
        ssh.mkdir(exist_ok=True)
        (ssh / "id").write_bytes(b"secret")
        derived = self.first.path / "derived" / "x.png"
        derived.write_bytes(picture(4))
        renamed = self.folder / "renamed"
        if not renamed.exists():
            shutil.copytree(self.first.path, renamed)
        found = {
            "the owner's token": secret,
            "the state folder": self.state,
            "the engine's database": self.state / "engine.sqlite",
            "what is to be written in the state folder": self.state / "new",
            "another project's file": self.object(self.first),
            "another project's derived file": derived,
            "another project's database": self.first.path / "library.sqlite",
            "the folder of another project's files": self.first.path / "objects",
            "its own project": self.second.path,
            "its own project's card": self.second.path / "library.json",
            "a package under another name": renamed / "objects",
            "a home's dot folder": ssh,
            "a key": ssh / "id",
            "what is to be written among keys": ssh / "new",
            "a home's dot file": self.home / ".netrc",
            "settings that are not there": self.home / ".config" / "x",
            "by way of a process": Path(f"/proc/self/cwd/{os.path.relpath(secret)}"),
            "by way of its root": Path(f"/proc/self/root{secret}"),
            "up and down": self.granted / ".." / "state" / "owner-token",
        }
        links = self.granted / "links"
        shutil.rmtree(links, ignore_errors=True)
        links.mkdir()
        for number, (name, place) in enumerate(list(found.items())):
            if place.exists():
                link = links / f"{number}.png"
                link.symlink_to(place)
                found[f"a link to {name}"] = link
                (links / f"{number}-again").symlink_to(link)
                found[f"a link to a link to {name}"] = links / f"{number}-again"
        (links / "way").symlink_to(self.state)
        found["through a link to the state folder"] = links / "way" / "owner-token"
        for name, place in (("token", secret), ("object", self.object(self.first))):
            os.link(place, links / f"hard-{name}.png")
            found[f"another name of the {name}"] = links / f"hard-{name}.png"
        return found

    def rest(self) -> None:
        """Make queued jobs wait."""
        self.engine.jobs.stop()
        self.engine.jobs.attach(self.second)

    def close(self) -> None:
        self.clients.close()
        self.engine.close()


@pytest.fixture
def ground(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[CheckedPaths]:
    checked_paths = CheckedPaths(tmp_path, monkeypatch)
    yield checked_paths
    checked_paths.close()


# ------------------------------------------------------------------------- every parameter of a path's type, by itself

Place = tuple[str | int, ...]
"""The way to a value within a body: names, and 0 for the member of a list."""


def list_typed_places(
    schema: Json, formats: frozenset[str], definitions: Json, seen: tuple[str, ...] = ()
) -> Iterator[Place]:
    """Yield the places of all strings of these formats in a JSON Schema."""
    if schema.get("format") in formats:
        yield ()
    if "$ref" in schema:
        name = schema["$ref"].rpartition("/")[2]
        if name not in seen:
            yield from list_typed_places(definitions[name], formats, definitions, (*seen, name))
    for key in ("anyOf", "allOf", "oneOf"):
        for one in schema.get(key, ()):
            yield from list_typed_places(one, formats, definitions, seen)
    for name, one in schema.get("properties", {}).items():
        yield from (
            (name, *typed_place) for typed_place in list_typed_places(one, formats, definitions, seen)
        )
    for key, step in (("items", 0), ("additionalProperties", "a")):
        if isinstance(schema.get(key), dict):
            yield from (
                (step, *typed_place)
                for typed_place in list_typed_places(schema[key], formats, definitions, seen)
            )


def fill_place(place: Place, path: str) -> Any:
    """Build a body with *path* at *place* and nothing else; `NEEDED` has what else it needs."""
    value: Any = path
    for step in reversed(place):
        value = [value] if step == 0 else {step: value}
    return value


NEEDED: dict[str, Json] = {
    "transfer": {"items": ["0" * 32]},
    "reading": {"scope_ids": ["0" * 32]},
    "sandbox": {"bookmark": "eA=="},
    "token.create": {"name": "x"},
    "/api/tokens": {"name": "x"},
    "token.update": {"token_id": "x"},
    **{key: {"format": "tei"} for key in ("export.keep", "/api/export/kept")},
    **{
        key: {"receiver": "kraken", "scope_ids": ["0" * 32]}
        for key in ("export.receiver", "/api/export/receivers")
    },
    "export.publish": {"page_ids": ["0" * 32]},
    **{key: {"formats": ["pagexml"]} for key in ("sync.tie", "/api/sync-folders")},
    **{
        key: {"scope_ids": ["0" * 32], "held_out_ids": ["0" * 32]}
        for key in ("training.start_regions_here", "/api/training/regions")
    },
    **{
        key: {"scope_ids": ["0" * 32], "teacher": "x"}
        for key in ("training.start", "/api/training/linereader")
    },
}
"""What a call of this kind needs besides its path, to get as far as the check."""


SAID_IN_WORDS = ("export.keep", "/api/export/kept")
"""Calls that refuse a folder inside a project with a 422 and a message of their own, to the owner too."""


def find_needed(name: str) -> Json:
    if "{" in name:  # a value in the address itself may be repeated in the answer
        return {}
    return next((more for kind, more in NEEDED.items() if kind in name), {})


MATERIAL = frozenset({"material-path", "name-or-material-path", "folder-to-open"})


def calls(ground: CheckedPaths, formats: frozenset[str]) -> dict[str, Callable[[str, str], Any]]:
    """Yield every action through POST /api/actions/invoke, and every route, by each of its parameters of these types."""
    found: dict[str, Callable[[str, str], Any]] = {}

    def ask(method: str, route: str, token: str, body: Any = None, query: Json | None = None) -> Any:
        headers = {"Authorization": f"Bearer {token}"}
        return ground.client.request(method, route, json=body, params=query, headers=headers)

    for one in ground.engine.actions.describe():
        for place in list_typed_places(one["params"], formats, one["params"].get("$defs", {})):
            name = one["name"]

            def invoke(token: str, path: str, name: str = name, place: Place = place) -> Any:
                params = {**find_needed(name), **fill_place(place, path)}
                return ask("POST", "/api/actions/invoke", token, {"name": name, "params": params})

            found[f"{name} {place}"] = invoke
    document = ground.client.get("/openapi.json").json()
    definitions = document["components"]["schemas"]
    for route, operations in document["paths"].items():
        for method, operation in operations.items():
            for one in operation.get("parameters", []):
                if one["schema"].get("format") in formats:

                    def by_query(
                        token: str, path: str, m: str = method, r: str = route, n: str = one["name"]
                    ) -> Any:
                        return ask(m.upper(), r, token, query={n: path})

                    found[f"{method} {route} {one['name']}"] = by_query
            content = operation.get("requestBody", {}).get("content", {}).get("application/json", {})
            for place in list_typed_places(content.get("schema", {}), formats, definitions):

                def by_body(token: str, path: str, m: str = method, r: str = route, p: Place = place) -> Any:
                    return ask(
                        m.upper(),
                        r.replace("{token_id}", "x"),
                        token,
                        {**find_needed(r), **fill_place(p, path)},
                    )

                found[f"{method} {route} {place}"] = by_body
    return found


def test_the_search_for_path_parameters_finds_them(ground: CheckedPaths) -> None:
    """This tests the search itself: if it found nothing, all other tests would pass."""
    found = {call.partition(" (")[0] for call in calls(ground, MATERIAL)}
    assert {
        *("document.import", "ingest.files", "library.set", "token.create", "token.update", "sandbox.grant"),
        *("reading.find_lines", "reading.read_lines", "reading.read_pages", "strange.look"),
        *(
            "post /api/documents/import",
            "post /api/ingest/files",
            "post /api/formats/check",
            "post /api/tokens",
        ),
        *("patch /api/library/settings", "patch /api/tokens/{token_id}", "post /api/strange/later"),
        *("get /api/strange/plain path", "get /api/strange/inner/plain path"),
    } <= found
    packages = {call.partition(" (")[0] for call in calls(ground, frozenset({"package-path"}))}
    assert {
        *("library.create", "library.open", "library.release", "library.unregister", "document.transfer"),
        *(
            "token.create",
            "pair.code",
            "post /api/library",
            "post /api/library/open",
            "post /api/registry/release",
        ),
    } <= packages


@pytest.mark.slow
def test_not_even_the_owner_reaches_a_closed_place(ground: CheckedPaths) -> None:
    closed = ground.closed_places()
    wrong = []
    for name, call in calls(ground, MATERIAL).items():
        for what, place in closed.items():
            answer = call(OWNER_TOKEN, str(place))
            code = answer.json().get("code")
            in_words = any(word in name for word in SAID_IN_WORDS) and (answer.status_code, code) == (
                422,
                "inside_project",
            )
            if (answer.status_code, code) != (403, "path_not_allowed") and not in_words:
                wrong.append(f"{name}: {what}: {answer.status_code} {answer.text[:200]}")
    assert wrong == [], "\n".join(wrong)


@pytest.mark.slow
def test_a_token_reaches_beneath_its_folders_and_nowhere_else(ground: CheckedPaths) -> None:
    """For the token of an agent and of a bound device: without folders first, then with one."""
    without = ground.token(libraries=[str(ground.second.path)])
    unbound = ground.token()
    granted = ground.token(libraries=[str(ground.second.path)], folders=[str(ground.granted)])
    (ground.granted / "out").symlink_to(ground.beside)
    inside, beside = ground.granted / "owner-token.png", ground.beside / "owner-token.png"
    reached, wrong = set(), []
    # Only the owner grants folders: these calls are refused for that reason.
    owners = ("sandbox", "token", "library.set", "/api/tokens", "/api/library/settings")
    for name, call in calls(ground, MATERIAL).items():
        for token in (without, unbound, granted):
            for place in (beside, beside.parent, ground.granted / "out", ground.granted / ".." / "beside"):
                answer = call(token, str(place))
                code = answer.json().get("code")
                if answer.status_code != 403 or (
                    code != "path_not_allowed" and not any(owner in name for owner in owners)
                ):
                    wrong.append(f"{name}: {place}: {answer.status_code} {answer.text[:200]}")
            for place in (inside, inside.parent):
                answer = call(token, str(place))
                if (answer.json().get("code") == "path_not_allowed") is (token is granted) and not any(
                    owner in name for owner in owners
                ):
                    wrong.append(f"{name}: {place}: {answer.status_code} {answer.text[:200]}")
                if answer.status_code in (200, 409) and token is granted:
                    reached.add(name.partition(" (")[0])
    assert wrong == []
    assert {"document.import", "ingest.files", "strange.look", "get /api/strange/plain path"} <= reached


def test_no_project_is_named_in_a_closed_place(ground: CheckedPaths) -> None:
    token = ground.token()
    wrong = []
    for name, call in calls(ground, frozenset({"package-path"})).items():
        for place in (
            ground.state,
            ground.first.path,
            ground.first.path / "objects",
            ground.home / ".config",
        ):
            place.mkdir(exist_ok=True)
            answer = call(OWNER_TOKEN, str(place / "New.library"))
            if (answer.status_code, answer.json().get("code")) != (403, "path_not_allowed"):
                wrong.append(f"{name}: {place}: {answer.text[:200]}")
            assert not (place / "New.library").exists()
        # An agent must not learn of projects that are not open.
        answer = call(token, str(ground.beside / "New.library"))
        if answer.status_code != 403 or (ground.beside / "New.library").exists():
            wrong.append(f"{name}: an agent: {answer.text[:200]}")
    assert wrong == []
    headers = {
        "Authorization": f"Bearer {token}",
        "X-Service-Library-Path": quote(f"{ground.beside}/New.library"),
    }
    assert ground.client.get("/api/documents", headers=headers).json()["code"] == "path_not_allowed"
    headers["X-Service-Library-Path"] = quote(str(ground.first.path))
    assert ground.client.get("/api/documents", headers=headers).status_code == 200


# -------------------------------------------------------------------------------------------------- the attack itself


def test_a_token_bound_to_one_project_reads_neither_the_owners_token_nor_another_project(
    ground: CheckedPaths,
) -> None:
    """As in a real attack: a picture beside the token's file, with the same name, so that the token's file would be its
    text.
    """
    owner_token = (ground.state / "owner-token").read_text().strip()
    bound = {"Authorization": f"Bearer {ground.token(libraries=[str(ground.second.path)])}"}
    (ground.beside / "owner-token.txt").write_text("a page")
    both = [str(ground.beside / "owner-token.png"), str(ground.state / "owner-token")]
    asked = [
        ground.client.post("/api/ingest/files", json={"paths": both}, headers=bound),
        ground.client.post("/api/ingest/files", json={"paths": both[1:]}, headers=bound),
        ground.client.post("/api/ingest/files", json={"paths": both}),
        ground.client.post("/api/formats/check", json={"path": both[1]}, headers=bound),
        *(
            ground.client.post(
                "/api/documents/import", json={"folder": str(ground.first.path / part)}, headers=bound
            )
            for part in ("objects", "derived", "derived/thumbnails")
        ),
    ]
    for answer in asked:
        assert (answer.status_code, answer.json()["code"]) == (403, "path_not_allowed"), answer.text
        assert owner_token not in answer.text
    ground.engine.jobs.run_until_idle(ground.second, 60)
    assert list(ground.second.objects.digests()) == []
    with ground.second.db.read() as conn:
        files = raw_of(conn).execute("SELECT count(*) FROM document WHERE doc_type = 'file'")
        assert files.fetchone() == (0,)


# --------------------------------------------------------------------------------------------------- later changes


def test_a_job_that_waits_reaches_what_its_starter_may_when_it_runs(ground: CheckedPaths) -> None:
    token = ground.token(folders=[str(ground.granted)])
    body = {"folder": str(ground.granted)}
    headers = {"Authorization": f"Bearer {token}"}
    identity = ground.client.get("/api/tokens").json()["items"][0]["id"]
    started = ground.client.post("/api/documents/import", json=body, headers=headers).json()["job_id"]
    ground.client.patch(f"/api/tokens/{identity}", json={"folders": []})
    ground.engine.jobs.run_until_idle(ground.second, 60)
    job = ground.client.get(f"/api/activity/jobs/{started}").json()
    assert job["state"] == "failed"
    assert "outside the folders granted" in job["reason"]
    assert list(ground.second.objects.digests()) == []
    ground.rest()
    ground.client.patch(f"/api/tokens/{identity}", json={"folders": [str(ground.granted)]})
    started = ground.client.post("/api/documents/import", json=body, headers=headers).json()["job_id"]
    ground.engine.jobs.run_until_idle(ground.second, 60)
    assert ground.client.get(f"/api/activity/jobs/{started}").json()["state"] == "done"
    ground.rest()
    started = ground.client.post("/api/documents/import", json=body, headers=headers).json()["job_id"]
    ground.client.delete(f"/api/tokens/{identity}")
    ground.engine.jobs.run_until_idle(ground.second, 60)
    assert ground.client.get(f"/api/activity/jobs/{started}").json()["state"] == "failed"


def test_a_job_put_in_the_queue_before_tokens_had_folders_is_the_owners_or_reaches_none(
    ground: CheckedPaths,
) -> None:
    of = ground.engine.auth.folders_of_run
    assert of({"kind": "person", "role": "owner", "libraries": None}) is None
    assert of({"kind": "machine", "role": "editor", "libraries": None}) == frozenset()
    assert of({}) is None


@pytest.mark.parametrize("turned", ["the owner's token", "a hard link", "a folder", "a package"])
def test_a_file_that_is_swapped_after_the_check_is_not_read(
    ground: CheckedPaths, turned: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The swap happens between the check and the opening: what was checked is opened, or nothing is."""
    box = ground.granted / "box"
    box.mkdir()
    victim = box / "1.png"
    victim.write_bytes(picture(1))
    check = type(ground.engine.paths).check

    def check_then_swap(rules: Any, value: Any, principal: Any) -> None:
        check(rules, value, principal)
        if not victim.exists() or victim.is_symlink():
            return
        ground.engine.paths._listed_at = -100.0
        if turned == "the owner's token":
            victim.unlink()
            victim.symlink_to(ground.state / "owner-token")
        elif turned == "a hard link":
            victim.unlink()
            os.link(ground.object(ground.first), victim)
        elif turned == "a folder":
            shutil.rmtree(box)
            box.symlink_to(ground.first.path / "derived" / "thumbnails")
        else:
            (box / "library.json").write_text("{}")
            (box / "objects").mkdir()

    token = {"Authorization": f"Bearer {ground.token(folders=[str(ground.granted)])}"}
    monkeypatch.setattr(type(ground.engine.paths), "check", check_then_swap)
    answer = ground.client.post("/api/ingest/files", json={"paths": [str(victim)]}, headers=token)
    monkeypatch.setattr(type(ground.engine.paths), "check", check)
    assert answer.status_code in (403, 422), answer.text
    assert list(ground.second.objects.digests()) == []


def test_a_linked_picture_is_read_only_where_it_was_linked(ground: CheckedPaths) -> None:
    """The project keeps a link to a picture left in place: what replaces the picture later is not served."""
    victim = ground.granted / "left.png"
    victim.write_bytes(picture(33))
    response = ground.client.post("/api/ingest/files", json={"paths": [str(victim)], "link": True})
    document = response.json()["documents"][0]["id"]
    (rendition,) = ground.client.get(f"/api/documents/{document}/renditions").json()["items"]
    content = f"/api/documents/{document}/renditions/{rendition['id']}/content"
    assert ground.client.get(content).content == picture(33)
    for place in (ground.state / "owner-token", ground.object(ground.first), ground.home / ".ssh"):
        victim.unlink(missing_ok=True)
        victim.symlink_to(place)
        answer = ground.client.get(content)
        assert (answer.status_code, answer.json()["code"]) == (404, "object_missing"), answer.text
    victim.unlink()
    ground.engine.paths._listed_at = -100.0
    os.link(ground.state / "owner-token", victim)
    assert ground.client.get(content).status_code == 404


def test_names_inside_files_reach_only_what_came_with_them(ground: CheckedPaths) -> None:
    """PAGE, METS and TEI name pictures by paths, and ZIP members name state folders: nothing elsewhere is looked at."""
    from proofs.path_world import LAYOUT, METS

    secret = ground.state / "owner-token"
    for number, target in enumerate((secret, ground.object(ground.first), ground.beside / "owner-token.png")):
        box = ground.granted / f"box-{number}"
        box.mkdir()
        (box / "own.png").write_bytes(picture(7 + number))
        (box / "own.xml").write_text(LAYOUT.format(image=target, width=16, height=12, text="x"))
        (box / "mets.xml").write_text(METS.format(href=os.path.relpath(target, box)))
        before = {path: path.stat().st_atime_ns for path in (target,)}
        paths = [str(path) for path in sorted(box.iterdir())]
        answer = ground.client.post("/api/ingest/files", json={"paths": paths}).json()
        assert {document["name"] for document in answer["documents"]} == {"own.png"}, answer
        assert before == {path: path.stat().st_atime_ns for path in (target,)}


# --------------------------------------------------------------------------------------------------------- house rule


def test_every_parameter_named_like_a_path_declares_its_kind(ground: CheckedPaths) -> None:
    wrong = {
        one["name"]: undeclared_paths(one["params"])
        for one in ground.engine.actions.describe()
        if undeclared_paths(one["params"])
    }
    kinds = {
        kind.name: undeclared_paths(kind.args.model_json_schema())
        for kind in ground.engine.kinds
        if kind.args is not None and undeclared_paths(kind.args.model_json_schema())
    }
    assert wrong | kinds == {}
    document = ground.client.get("/openapi.json").json()
    definitions = document["components"]["schemas"]
    bodies = {}
    for route, operations in document["paths"].items():
        for method, operation in operations.items():
            for kind, content in operation.get("requestBody", {}).get("content", {}).items():
                name = content["schema"].get("$ref", "").rpartition("/")[2]
                schema = definitions.get(name, content["schema"])
                found = [] if kind == "multipart/form-data" else undeclared_paths(schema)
                if found:
                    bodies[f"{method} {route}"] = found
            schemas_by_name = {
                parameter["name"]: parameter["schema"] for parameter in operation.get("parameters", [])
            }
            if found := undeclared_paths({"properties": schemas_by_name}):
                bodies[f"{method} {route} (parameters)"] = found
    assert bodies == GIVEN_ON


GIVEN_ON = {"delete /api/registry/{path} (parameters)": ["path"]}
"""Routes that pass them unchanged to an action that declares them."""


class UndeclaredPaths(Params):
    output_path: str
    files: list[str] | None = None
    name: str
    shown_path: ShownPath = ""


def test_the_house_rule_sees_a_plain_text() -> None:
    assert undeclared_paths(UndeclaredPaths.model_json_schema()) == ["files", "output_path"]
    assert DECLARED >= MATERIAL
