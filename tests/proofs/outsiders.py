"""Requests that somebody sends who may not see a page, generated from the published interface: every read, with every
parameter it takes, and values that would tell something if an answer depended on what is withheld.
"""

from __future__ import annotations

import asyncio
import io
import re
import zipfile
from base64 import b64encode
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from random import Random
from typing import Any
from urllib.parse import quote, urlencode
from zlib import crc32

import orjson
from pyarrow import parquet

from armarium.web.stream_routes import as_seen, concerns
from proofs.api_fields import TEXTS, Fields
from proofs.api_requests import ALIASES, ONE_OF, PLACES, VALUES
from proofs.two_worlds import TwoWorlds

STREAMS = ("/api/changes/stream", "/api/workflow-execution/threads/{thread_id}/stream")
"""Streams that never end by themselves."""
AT_ONCE = re.compile(r'^id: \d+|"withheld":\d+|,?"job_ids":\[[^]]*\]|"jobs":{[^}]*}', re.MULTILINE)
PACKED = re.compile(
    rb'(?P<file>"id":"(?P<id>[^"]+)","filename":"[^"]*","media_type":"application/zip"),"size_bytes":\d+'
)
WHAT_HAPPENED = (
    "/api/activity/jobs",
    "/api/activity",
    "/api/library/stats",
    "/api/snapshots",
    "/api/actions/audit?limit=1000",
)
LINKED = "/api/reconcile/"
"""Where the token stands in the address."""
ENDED = ("done", "failed", "cancelled")
READS = {"/api/engine/stop": False, "/api/actions/invoke": False}

RUNNING = re.compile(
    rb'"(uptime_seconds|seconds|execution_time_ms|first_seen|last_accessed|rss_[a-z_]*|last_seen|row_hash|prev_hash|memory[a-z_]*|free[a-z_]*|load[a-z_]*)":[^,}\]]*|"at":"[^"]*","digest":"[0-9a-f]{64}"'
)
"""Fields that differ from one moment to the next, and the chain of hashes, in which the ids are salt."""


@dataclass(frozen=True)
class ReadRequest:
    """One request."""

    method: str
    path: str
    label: str
    body: bytes | None = None

    def __str__(self) -> str:
        return f"{self.method} {self.path} {(self.body or b'').decode()}"


class Outsider:
    """Makes the requests of one caller."""

    def __init__(self, worlds: TwoWorlds, client: Any, seed: int) -> None:
        self.worlds, self.chance = worlds, Random(seed)
        self.fields = Fields(worlds.document)
        engine = client.app_engine
        library = engine.libraries.get(worlds.path)
        self.words = [word for words in worlds.withheld.words.values() for word in words]
        self.open: list[list[dict[str, Any]]] = []
        self.hidden: list[list[dict[str, Any]]] = []
        with library.db.read_all() as conn:
            for statement in worlds.relations:
                rows = [dict(row) for row in conn.exec_driver_sql(statement).mappings().all()]
                # What the engine has queued when it opened this project has another id in the other one.
                rows = [row for row in rows if not worlds.has_new(row.values())]
                names_hidden = [bool(worlds.withheld.ids & {*row.values()}) for row in rows]
                self.open.append([row for row, is_in in zip(rows, names_hidden, strict=True) if not is_in])
                self.hidden.append([row for row, is_in in zip(rows, names_hidden, strict=True) if is_in])
            found_rows = conn.exec_driver_sql("SELECT DISTINCT key FROM document d, json_each(d.attributes)")
            self.attributes = ["document.name", "document.date_iso", *found_rows.scalars()]

    def requests(self, each: int, only: str) -> Iterator[ReadRequest]:
        """Yield at least *each* requests of every read whose path begins with *only*, and one for each of its parameters."""
        for path, operations in sorted(self.worlds.document["paths"].items()):
            for method in operations:
                label = f"{method.upper()} {path}"
                if (
                    path in STREAMS
                    or not path.startswith(only)
                    or not (method == "get" or self._reads(label, method))
                ):
                    continue
                yield from dict.fromkeys(self._of(label, path, operations[method], each))

    def _reads(self, label: str, method: str) -> bool:
        """Return whether a POST only reads: it runs no action."""
        path = label.partition(" ")[2]
        return (
            method == "post"
            and label not in self.worlds.actions
            and READS.get(path, not path.endswith("undo"))
        )

    def _of(self, label: str, path: str, operation: Mapping[str, Any], each: int) -> Iterator[ReadRequest]:
        taken = [parameter for parameter in operation.get("parameters", ()) if parameter["name"] != "library"]
        queries = {item["name"]: item for item in taken if item["in"] == "query"}
        method = label.partition(" ")[0]
        self.words = self.worlds.withheld.words_about(path)
        rounds: list[str | None] = [None] * each + [name for name in queries for _ in range(min(each, 2))]
        for number, alone in enumerate(rounds):
            scene = self._scene(self.hidden if number % 5 == 4 else self.open)
            scene |= {name: self.chance.choice(values) for name, values in PLACES.get(path, {}).items()}
            if path.startswith(LINKED):
                scene |= {"token": self.worlds.token_in_addresses, "edition": "0.2"}
            address = path
            for name in re.findall(r"\{(\w+)(?::path)?\}", path):
                value = scene.get(ALIASES.get(name, name), scene.get(name))
                value = self._value(name, {"type": "string"}, scene) if value is None else value
                address = re.sub(rf"\{{{name}(:path)?\}}", lambda _: quote(str(value), safe=""), address)  # noqa: B023
            given = []
            for name, query in queries.items():
                if (
                    query.get("required")
                    or name == alone
                    or (alone is None and number and self.chance.random() < 0.3)
                ):
                    value = self._value(name, query.get("schema", {}), scene)
                    given += [(name, _text(each)) for each in (value if isinstance(value, list) else [value])]
            given = [(name, value) for name, value in given if value is not None]
            only = [name for name in ONE_OF.get(path, ()) if name in dict(given)]
            given = [pair for pair in given if pair[0] not in only[1:]]
            body = None
            if label in self.fields.bodies:
                body = orjson.dumps(self._body(label, scene, number))
            yield ReadRequest(method, address + (f"?{urlencode(given)}" if given else ""), label, body)

    def _scene(self, rows: list[list[dict[str, Any]]]) -> dict[str, Any]:
        """Return ids of everything, some of which belong together."""
        found: dict[str, Any] = {}
        for one in self.chance.sample(rows, len(rows)):
            some = self.chance.sample(one, min(len(one), 4))
            agreeing = (
                row for row in some if all(found.get(name, value) == value for name, value in row.items())
            )
            row = next(agreeing, some[0] if some else {})
            found |= {name: value for name, value in row.items() if value is not None and name not in found}
        return found

    def _value(self, name: str, schema: Mapping[str, Any], scene: Mapping[str, Any]) -> Any:
        value = self._choose_value(scene)
        return value(self.fields._make_value(schema, value, self.chance, 1), name)

    def _choose_value(self, scene: Mapping[str, Any]) -> Callable[[Any, str], Any]:
        def choose(value: Any, name: str) -> Any:
            if name in ("attr", "facets"):
                attribute = self.chance.choice(self.attributes)
                return [attribute] if isinstance(value, list) else attribute
            meant = scene.get(ALIASES.get(name, name))
            if meant is not None and not isinstance(value, bool | int | dict):
                return [meant] if isinstance(value, list) else meant
            if name.endswith("_id") or (name in VALUES and not (isinstance(value, str) and value in TEXTS)):
                return self.chance.choice(VALUES[name]) if name in VALUES else None
            if isinstance(value, str) and any(value == text[: len(value)] for text in TEXTS):
                return self._word()
            if isinstance(value, list):
                return [choose(one, name) for one in value]
            return value

        return choose

    def _word(self) -> str:
        """Return a word, or the beginning or middle of one, that stands in one of the two projects only."""
        word = self.chance.choice(self.words)
        start = self.chance.choice((0, 0, 1))
        return word[start : start + self.chance.choice((2, 3, 5, 40))] or word

    def _body(self, label: str, scene: Mapping[str, Any], number: int) -> Any:
        value = self._choose_value(scene)
        body = self.fields._make_value(self.fields.bodies[label], value, self.chance, 0)
        body = body if isinstance(body, dict) else {}
        if "/documents/metadata" in label:
            table = f"name,{self.chance.choice(self.attributes)}\n{self._word()},{self._word()}\n"
            return {"table": b64encode(table.encode()).decode()}
        if "/documents/dataset/" in label:
            wide = {"recursive": True, "parent_id": None}
            return {**body, **(wide if number % 3 else {}), "filters": [self._filter(scene)]}
        return body

    def _filter(self, scene: Mapping[str, Any]) -> dict[str, Any]:
        attr = self.chance.choice(self.attributes)
        op = self.chance.choice(("contains", "contains", "eq", "ne", "gte", "lte", "is_set", "not_set"))
        return {"attr": attr, "op": op} | ({"value": self._word()} if not op.endswith("_set") else {})

    def invocations(self, actions: list[dict[str, Any]], each: int) -> Iterator[ReadRequest]:
        """Yield *each* invocations of every action of the registry with values generated from its description, and one
        with those of its example where the project still has them.
        """
        for action in actions:
            schema = {**action["params"], "properties": action["params"].get("properties", {})}
            self.fields._schemas = {**self.fields._schemas, **schema.get("$defs", {})}
            example = self.worlds.ground.spent.get(action["name"])
            self.words = self.worlds.withheld.words_about(action["name"])
            for number in range(-1 if example is not None else 0, each):
                choose = self._choose_value(self._scene(self.hidden if number % 3 == 2 else self.open))
                params = (
                    example
                    if number < 0
                    else self.fields._make_value(_inline_references(schema), choose, self.chance, 0)
                )
                for name in {"output_path", "folder"} & schema["properties"].keys():
                    if name in params or name in schema.get("required", ()):
                        params = {**params, name: str(self.worlds.out / f"{action['name']}{number}")}
                body = orjson.dumps({"name": action["name"], "params": params})
                yield ReadRequest("post", "/api/actions/invoke", action["name"], body)


def _inline_references(schema: Any) -> Any:
    """Return a schema whose references are those of a whole description."""
    if isinstance(schema, dict):
        return {name: _inline_references(inner) for name, inner in schema.items() if name != "$defs"}
    return [_inline_references(one) for one in schema] if isinstance(schema, list) else schema


Part = tuple[int, int]
"""Which of how many parts of all routes, or of all actions, is asked: they are divided by their names."""
ALL: Part = (0, 1)


def is_in(part: Part, name: str) -> bool:
    number, parts = part
    # What remains of the hash decides who asks (`differences`).
    return crc32(name.encode()) // 3 % parts == number


def differences_after(
    worlds: TwoWorlds, seed: int, each: int, part: Part = ALL
) -> tuple[list[str], Counter[int]]:
    """Let the bound agent invoke the same actions in both projects and run the jobs to their end; return what differs in
    the answers, the events and the streams of runs that it hears, the files that are written and the lists of what
    happened, and how often each status was met.
    """
    asked: list[ReadRequest] = []
    heard: list[list[str]] = []
    met: Counter[int] = Counter()
    token = worlds.callers["a bound agent"]
    for turn in range(2):
        with worlds.serving() as client:
            if not turn:
                actions = client.get("/api/actions/registry", headers=_headers(token)).json()["items"]
                here = [
                    action
                    for action in actions
                    if action["scope"] == "library" and is_in(part, action["name"])
                ]
                asked = list(Outsider(worlds, client, seed).invocations(here, each))
            heard.append([])
            after = client.app_engine.events.seq
            for one in asked:
                status, kind, body = ask_as(client, one, token)
                met[status] += 1
                heard[-1].append(
                    f"{one}\n{status} {kind} {worlds.without_new(_with_its_file(client, token, body))}"
                )
            heard[-1] += _aftermath(worlds, client, token, after)
        worlds.swap()
    here, there = (Counter(one) for one in heard)
    return [*(here - there), *(there - here)], met


def _aftermath(worlds: TwoWorlds, client: Any, token: str, after: int) -> Iterator[str]:
    """Yield what the caller can learn of the steps since the event *after*: from the change stream, from lists, from the
    streams of runs that have ended, and from the files in its folder.
    """
    engine = client.app_engine
    library = engine.libraries.get(worlds.path)
    caller = engine.auth.authenticate(token, caller="", local=True, proxied=False, transport="tcp")
    for event in engine.events.since(after) or ():
        seen = asyncio.run(as_seen(engine, event, caller)) if concerns(event, caller, None) else None
        if seen is not None:
            yield worlds.without_new(seen.body)
    for path in WHAT_HAPPENED:
        yield f"{path} {worlds.without_new(ask_as(client, ReadRequest('get', path, path), token)[2])}"
    # Some read whole pages; on a busy machine that takes minutes.
    engine.jobs.run_until_idle(library, 600)
    with library.db.read_all() as conn:
        runs = conn.exec_driver_sql("SELECT thread_id, status FROM workflow_run_state").all()
    followed = [run for run, status in runs if status in ENDED or run in worlds.withheld.ids]
    streams = [f"{STREAMS[1].format(thread_id=run)}?after=0" for run in followed]
    for path in (*WHAT_HAPPENED, *streams):
        status, kind, body = ask_as(client, ReadRequest("get", path, path), token)
        # Jobs run side by side: what they note has no order, and one that waits already is not queued again. How often
        # those about withheld pages did something is the number of rows that are left out, not their content.
        for told in _events_by_page(body) if path in streams else [body]:
            said = AT_ONCE.sub("", worlds.without_new(f"{path}: {status} {kind}\n".encode() + told))
            yield from (
                f"{path.partition('?')[0][:32]} {part}" for part in re.split(r"(?<=[}[]),?(?={)", said)
            )
    for file in sorted(one for one in worlds.out.rglob("*") if one.is_file()):
        yield f"{file}\n{worlds.without_new(_read_as_text(file))}"


def _events_by_page(stream: bytes) -> list[bytes]:
    """Return the events of a run in as many parts as they are about pages (or nodes, or the run as a whole), each in its
    order: which page comes next while several are worked on beside each other is told by nothing.
    """
    parts: dict[bytes, list[bytes]] = defaultdict(list)
    for event in stream.split(b"\n\n"):
        about = re.findall(rb'"document_id":"([^"]+)"', event) or re.findall(rb'"node_id":"([^"]+)"', event)
        parts[about[-1] if about else b""].append(event)
    return [b"\n\n".join(part) for part in parts.values()]


def _with_its_file(client: Any, token: str, answer: bytes) -> bytes:
    """Return an answer; if it offers a packed file, with what that contains instead of its size: new ids, drawn by lot,
    are packed into more bytes or fewer.
    """
    offered = PACKED.search(answer)
    if offered is None:
        return answer
    address = f"/api/export/downloads/{offered['id'].decode()}"
    status, _, file = ask_as(client, ReadRequest("get", address, address), token)
    assert status == 200, file
    return PACKED.sub(rb"\g<file>", answer) + b"\n" + _content_as_text(Path("file.zip"), file)


def _read_as_text(file: Path) -> bytes:
    """Return the content of a file, of one that is compressed what it contains."""
    return _content_as_text(file, file.read_bytes())


def _content_as_text(name: Path, content: bytes) -> bytes:
    if name.suffix == ".parquet":
        return orjson.dumps(parquet.read_table(io.BytesIO(content)).to_pylist(), default=str)
    if zipfile.is_zipfile(io.BytesIO(content)):
        with zipfile.ZipFile(io.BytesIO(content)) as packed:
            parts = {part: packed.read(part) for part in packed.namelist()}
        return b"\n".join(part.encode() + b"\n" + _content_as_text(Path(part), parts[part]) for part in parts)
    return content


def _text(value: Any) -> str | None:
    return None if value is None else str(value).lower() if isinstance(value, bool) else str(value)


def _headers(token: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", "content-type": "application/json"}


Answer = tuple[int, str, str]


def ask_as(client: Any, asked: ReadRequest, token: str) -> tuple[int, str, bytes]:
    """Send a request; return status, type and body of the answer, without what differs from moment to moment."""
    answer = client.request(asked.method, asked.path, content=asked.body, headers=_headers(token))
    return (
        answer.status_code,
        ";".join(
            answer.headers.get(name, "")
            for name in ("content-type", "etag", "content-disposition", "location")
        ),
        RUNNING.sub(b"", answer.content),
    )


def differences(
    worlds: TwoWorlds, seed: int, each: int, only: str = "", part: Part = ALL
) -> tuple[list[str], dict[str, int]]:
    """Ask both projects the same; return the requests that they answer differently, and how many answered 200 by route.

    *only* restricts them to paths that begin with it. Each route is asked by every caller, or by one of them in turn when
    *each* is 1.
    """
    asked: dict[str, list[ReadRequest]] = {}
    answers: list[list[Answer]] = []
    good: dict[str, int] = defaultdict(int)
    for turn in range(2):
        with worlds.serving() as client:
            if not turn:
                asked = {
                    caller: [
                        request
                        for request in Outsider(worlds, client, seed + number).requests(each, only)
                        if is_in(part, request.label)
                        if each > 1 or crc32(request.label.encode()) % len(worlds.callers) == number
                    ]
                    for number, caller in enumerate(worlds.callers)
                }
            told = (ask_as(client, one, worlds.callers[who]) for who in asked for one in asked[who])
            answers.append([(status, kind, worlds.without_new(body)) for status, kind, body in told])
        worlds.swap()
    flat = [(who, one) for who in asked for one in asked[who]]
    found = []
    for (who, one), here, there in zip(flat, *answers, strict=True):
        good[one.label] += here[0] == 200
        if here != there:
            found.append(f"{who}: {one}\n    {_apart(here, there)}")
    return found, good


def _apart(here: Answer, there: Answer) -> str:
    if here[:2] != there[:2]:
        return f"{here[:2]} / {there[:2]} {here[2][:200]!r} / {there[2][:200]!r}"
    at = next((n for n, pair in enumerate(zip(here[2], there[2], strict=False)) if pair[0] != pair[1]), -1)
    start = max(0, at - 120)
    return f"{here[2][start : at + 80]!r}\n    {there[2][start : at + 80]!r}"
