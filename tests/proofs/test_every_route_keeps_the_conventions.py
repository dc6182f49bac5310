"""The conventions that hold on every route, checked for each operation."""

from __future__ import annotations

import copy
import re
from collections.abc import Iterator
from typing import Any
from urllib.parse import quote

import pytest
from starlette.testclient import TestClient

from armarium.ids import is_id
from armarium.principals import LOCAL_OWNER
from proofs.api_project import TOKEN, ApiProject
from proofs.api_requests import ALIASES, body_fields_of, body_of

pytestmark = pytest.mark.slow

UNKNOWN = "0f" * 16
"""An id of the right form that names nothing."""


ANSWERED_OTHERWISE = {
    "POST /api/images/crops/batch": "a picture that cannot be cut is told in failed[]",
    "PUT /api/segments/{segment_id}": "the body's segment_id and the path's must agree: 422",
    "POST /api/segments/correct-many": "another reading counts than the one expected: 409",
    "POST /api/segments/{segment_id}/correct": "another reading counts than the one expected: 409",
    "PUT /api/canvas/folders/{folder_id}/layout": "what is taken off the canvas may be gone already",
    "GET /api/links/of/{end_id}": "an end may be a URI or a thing of another family: what has no links has none",
}
"""Operations that answer an unknown id in another way, and why."""
ENGINE_WIDE = {
    "PUT /api/activity/jobs/paused": "pause and mode are engine-wide",
    "PUT /api/activity/jobs/mode": "pause and mode are engine-wide",
    "POST /api/library/open": "opening is reading; a stranger's token does not reach the project",
    "POST /api/local-models/download/{runtime}/{model}": "models are the engine's",
}
"""Operations that work for every project at once, so that every token may use them."""


class Examiner:
    """Sends each writing operation with the parameters of its action's example."""

    def __init__(self) -> None:
        self.ground = ApiProject()
        self.document = self.ground.app.openapi()
        self.fields = body_fields_of(self.document)
        self.client = TestClient(self.ground.app, base_url="http://127.0.0.1", client=("127.0.0.1", 50000))

    def ask(self, method: str, path: str, *, token: str = TOKEN, **given: Any) -> Any:
        headers = {"Authorization": f"Bearer {token}", "X-Service-Library-Path": quote(str(self.ground.path))}
        return self.client.request(method, path, headers=headers, follow_redirects=False, **given)

    def operations(self) -> Iterator[tuple[str, str, dict[str, Any]]]:
        """Yield (method, path, description) of every operation but the endless one."""
        for path, operations in self.document["paths"].items():
            for method, operation in operations.items():
                if path != "/api/changes/stream":
                    yield method.upper(), path, operation

    def writes(self) -> Iterator[tuple[str, str, dict[str, Any], Any]]:
        """Yield (method, path, path parameters, JSON body or None) of each write that has an example and takes JSON."""
        for method, path, operation in self.operations():
            action = self.ground.actions.get(f"{method} {path}")
            content = operation.get("requestBody", {}).get("content", {})
            if action is None or "multipart/form-data" in content:
                continue
            self.ground.use_up(action)
            params = self.ground.params(action)
            names = re.findall(r"{(\w+)}", path)
            places = {
                name: params.get(name, params.get(ALIASES.get(name, name), params.get("ids")))
                for name in names
            }
            places = {name: value[0] if isinstance(value, list) else value for name, value in places.items()}
            fields = self.fields.get(f"{method} {path}", set())
            yield method, path, places, copy.deepcopy(body_of(params, fields)) if content else None
            self.ground.use_up(action)


def fill_path(path: str, places: dict[str, Any]) -> str:
    for name, value in places.items():
        path = path.replace(f"{{{name}}}", quote(str(value), safe=""))
    return path


@pytest.fixture(scope="module")
def examiner() -> Iterator[Examiner]:
    new_examiner = Examiner()
    yield new_examiner
    new_examiner.ground.close()


def test_every_write_carries_its_audit_row(examiner: Examiner) -> None:
    faults, carried = [], 0
    for method, path, places, body in examiner.writes():
        reply = examiner.ask(method, fill_path(path, places), json=body)
        carried += reply.status_code < 300
        if reply.status_code >= 300:
            if reply.json().get("code") not in ("offline", "already_here"):
                faults.append(f"{method} {path}: {reply.status_code} {reply.text[:300]}")
            continue
        answer = reply.json()
        if not answer.get("audit_id") or answer["audit_id"] != reply.headers.get("x-service-audit-id"):
            faults.append(f"{method} {path}: no audit_id in {str(answer)[:200]} or another in its header")
    assert not faults, "\n".join(faults)
    # Most of the writing operations were really called, and wrote.
    assert carried > 0.8 * sum(method != "GET" for method, _, _ in examiner.operations()), carried


def test_every_deletion_says_deleted(examiner: Examiner) -> None:
    faults = []
    for method, path, places, body in examiner.writes():
        if method == "DELETE" and path != "/api/registry/{path}":
            reply = examiner.ask(method, fill_path(path, places), json=body)
            word = "untied" if path == "/api/sync-folders/{folder_id}" else "deleted"
            if reply.status_code != 200 or reply.json().get("status") != word:
                faults.append(f"{method} {path}: {reply.status_code} {reply.text[:200]}")
            if reply.headers.get("x-content-type-options") != "nosniff":
                faults.append(f"{method} {path}: its content may be sniffed")
    assert not faults, "\n".join(faults)


def test_an_unknown_id_in_a_path_is_404(examiner: Examiner) -> None:
    faults = []
    for method, path, places, body in examiner.writes():
        for name in places:
            if name in ("path", "key", "runtime", "model"):
                continue
            reply = examiner.ask(method, fill_path(path, {**places, name: UNKNOWN}), json=body)
            if reply.status_code != 404 and f"{method} {path}" not in ANSWERED_OTHERWISE:
                faults.append(
                    f"{method} {path} with an unknown {name}: {reply.status_code} {reply.text[:200]}"
                )
    for method, path, operation in examiner.operations():
        names = [p["name"] for p in operation.get("parameters", ()) if p["in"] == "path"]
        if method != "GET" or not names or "{key}" in path or f"GET {path}" in ANSWERED_OTHERWISE:
            continue
        required = {
            parameter["name"]: UNKNOWN
            for parameter in operation["parameters"]
            if parameter["in"] == "query" and parameter.get("required")
        }
        reply = examiner.ask(method, fill_path(path, dict.fromkeys(names, UNKNOWN)), params=required)
        if reply.status_code != 404:
            faults.append(f"GET {path} with an unknown id: {reply.status_code} {reply.text[:200]}")
    assert not faults, "\n".join(faults)


def test_an_unknown_id_in_a_body_is_404_and_named(examiner: Examiner) -> None:
    faults = []
    for method, path, places, body in examiner.writes():
        if f"{method} {path}" in ANSWERED_OTHERWISE:
            continue
        for where, changed in _with_unknown_ids(body):
            reply = examiner.ask(method, fill_path(path, places), json=changed)
            if reply.status_code != 404 or UNKNOWN not in reply.text:
                faults.append(
                    f"{method} {path} with an unknown {where}: {reply.status_code} {reply.text[:200]}"
                )
    assert not faults, "\n".join(faults)


def _with_unknown_ids(body: Any) -> Iterator[tuple[str, Any]]:
    """Yield the body with one of its ids replaced by an unknown one, for each id."""

    def walk(value: Any, name: str) -> Iterator[tuple[str, Any]]:
        if isinstance(value, str) and is_id(value):
            yield name, UNKNOWN
        elif isinstance(value, dict):
            for key, part in value.items():
                for where, changed in walk(part, str(key)):
                    yield where, {**value, key: changed}
        elif isinstance(value, list) and value:
            for where, changed in walk(value[-1], name):
                yield where, [*value[:-1], changed]

    yield from walk(body, "body")


def test_an_unknown_field_is_refused_and_named(examiner: Examiner) -> None:
    faults = []
    for method, path, places, body in examiner.writes():
        if not isinstance(body, dict):
            continue
        for field in ("no_such_field", "created_by", "provenance_kind", "created_at"):
            reply = examiner.ask(method, fill_path(path, places), json={**body, field: "x"})
            if reply.status_code != 422 or field not in str(reply.json().get("errors")):
                faults.append(f"{method} {path} with {field}: {reply.status_code} {reply.text[:200]}")
    assert not faults, "\n".join(faults)


def test_a_viewer_reads_and_writes_nothing(examiner: Examiner) -> None:
    run = examiner.ground.engine.run
    result = run(None, "token.create", {"name": "reader", "role": "viewer"}, LOCAL_OWNER).result
    elsewhere = run(
        None,
        "token.create",
        {"name": "stranger", "role": "editor", "libraries": ["/tmp/Other.library"]},
        LOCAL_OWNER,
    ).result
    assert result is not None
    assert elsewhere is not None
    faults = []
    for method, path, places, body in examiner.writes():
        if (
            path in ("/api/pair", "/api/pair/enroll", "/api/auth/session")
            or f"{method} {path}" in ENGINE_WIDE
        ):
            continue
        reply = examiner.ask(method, fill_path(path, places), json=body, token=result["token"])
        if reply.status_code != 403:
            faults.append(f"{method} {path} by a viewer: {reply.status_code} {reply.text[:200]}")
        reply = examiner.ask(method, fill_path(path, places), json=body, token=elsewhere["token"])
        if reply.status_code != 403:
            faults.append(f"{method} {path} by a stranger: {reply.status_code} {reply.text[:200]}")
    assert not faults, "\n".join(faults)


def _most(schema: dict[str, Any]) -> int:
    """Return the largest number that a parameter accepts, in whichever branch of its schema that is stated."""
    return int(next(one["maximum"] for one in (schema, *schema.get("anyOf", ())) if "maximum" in one))


def test_lists_are_counted_and_paged_alike(examiner: Examiner) -> None:
    faults = []
    for method, path, operation in examiner.operations():
        takes = {p["name"]: p["schema"] for p in operation.get("parameters", ()) if p["in"] == "query"}
        if method != "GET" or "{" in path or "limit" not in takes:
            continue
        reply = examiner.ask("GET", path)
        if reply.status_code == 200 and "items" in (answer := reply.json()):
            if answer.get("count") != len(answer["items"]):
                faults.append(f"{path}: count {answer.get('count')} of {len(answer['items'])} items")
            if "offset" in takes and not {"total", "limit", "offset"} <= answer.keys():
                faults.append(f"{path}: a paged list without total, limit, offset")
        for limit in (0, _most(takes["limit"]) + 1, "x"):
            reply = examiner.ask("GET", path, params={"limit": limit})
            if reply.status_code != 422:
                faults.append(f"{path}?limit={limit}: {reply.status_code}")
    assert not faults, "\n".join(faults)
