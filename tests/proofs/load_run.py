"""A load test: an engine served as its users serve it, a long import, many clients, and the outcome."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import threading
import time
import urllib.request
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import quote

import psutil

from armarium_testing.fixtures import OWNER_TOKEN
from proofs.load_clients import ClientFigures, Plan

WARM_UP = 60.0
"""Seconds until the engine's memory counts as what it needs under this load."""

PAGES, LINES, CONTESTED = 20, 25, 16
IMPORTED_TOGETHER = 40
"""Pages of one import; when it is done the next one begins."""


@dataclass
class ServedEngine:
    """An engine in a process of its own, and a project it holds."""

    process: subprocess.Popen[bytes]
    base_url: str
    library: Path

    @property
    def headers(self) -> dict[str, str]:
        """The headers of an owner's requests."""
        return {"Authorization": f"Bearer {OWNER_TOKEN}", "X-Service-Library-Path": quote(str(self.library))}

    def ask(self, method: str, path: str, body: object = None) -> Any:
        """Return the answer to one request; raise urllib's HTTPError for a refusal."""
        data = None if body is None else json.dumps(body).encode()
        headers = {**self.headers, "Content-Type": "application/json"}
        request = urllib.request.Request(self.base_url + path, data, headers, method=method)
        with urllib.request.urlopen(request, timeout=120) as answer:
            return json.load(answer)

    def cpu_seconds(self) -> float:
        """Return the seconds of CPU time the engine's process has used."""
        times = psutil.Process(self.process.pid).cpu_times()
        return float(times.user + times.system)

    def loop_times(self) -> tuple[float, float]:
        """Return the seconds for which the engine's main thread, which runs the event loop, ran and waited for a CPU
        (Linux; otherwise zeros).
        """
        try:
            ran, waited = Path(f"/proc/{self.process.pid}/schedstat").read_text().split()[:2]
        except OSError:
            return 0.0, 0.0
        return int(ran) / 1e9, int(waited) / 1e9

    def memory(self) -> int:
        """Return the bytes of memory the engine's process holds (its resident set)."""
        return int(psutil.Process(self.process.pid).memory_info().rss)


@contextmanager
def serve(folder: Path) -> Iterator[ServedEngine]:
    """Run `armarium serve` on a free port, with an empty project; stopped as a person stops it."""
    state, library = folder / "state", folder / "Storm.library"
    environment = {
        **os.environ,
        "SERVICE_STATE_DIR": str(state),
        "SERVICE_OWNER_TOKEN": OWNER_TOKEN,
        "SERVICE_LIBRARY_ROOTS": str(folder),
        "SERVICE_LOCAL_ONLY": "true",
    }
    command = [Path(sys.executable).parent / "armarium", "serve", "--port", "0"]
    with (folder / "engine.log").open("wb") as log:
        process = subprocess.Popen(command, env=environment, stdout=log, stderr=log)
    try:
        deadline = time.monotonic() + 60
        while not (state / "engine.json").exists():
            assert process.poll() is None, (folder / "engine.log").read_text()
            assert time.monotonic() < deadline, "the engine did not come up"
            time.sleep(0.05)
        engine = ServedEngine(process, json.loads((state / "engine.json").read_text())["base_url"], library)
        engine.ask("POST", "/api/library", {"path": str(library)})
        yield engine
    finally:
        process.terminate()
        process.wait(60)


def prepare_project(engine: ServedEngine, clients: int) -> dict[str, Any]:
    """Create folders to fill, pages whose lines have a reading each, and the segments that all clients change: parts of
    a `Plan`.
    """

    def make(action: str, **params: Any) -> Any:
        return engine.ask("POST", "/api/actions/invoke", {"name": action, "params": params})["result"]

    shared = make("document.create", doc_type="folder", name="shared")["id"]
    folders = [make("document.create", doc_type="folder", name=f"Box {n}")["id"] for n in range(clients)]
    pages, contested = [], []
    for number in range(PAGES):
        page = make("document.create", doc_type="page", name=f"Page {number}", parent_id=folders[0])["id"]
        pass_id = make("segment.pass_create", document_id=page, name="By hand")["id"]
        shapes = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {"rect": [0.1, 0.03 * n, 0.8, 0.02]},
            }
            for n in range(LINES + 1)
        ]
        lines = [item["id"] for item in make("segment.create_many", segments=shapes)["items"]]
        for line in lines:
            make("representation.create", segment_id=line, text="Sepan quantos esta carta vieren")
        contested.append(lines.pop())
        pages.append({"id": page, "lines": lines})
    return {"shared": shared, "folders": folders, "pages": pages, "contested": contested[:CONTESTED]}


class Importing(threading.Thread):
    """Imports one folder of pages after the other until stopped; each file is new to the project."""

    def __init__(self, engine: ServedEngine, folder: Path) -> None:
        super().__init__(name="importing", daemon=True)
        from armarium_demo.samples import write_sample_pages

        self.engine = engine
        self.folder = folder
        self.templates = [
            path.read_bytes() for path in write_sample_pages(folder / "templates", count=4, scale=0.6)
        ]
        self.pages = 0
        self.imports = 0
        self.first_job = ""
        self.begun = threading.Event()
        self.enough = threading.Event()
        self.error: Exception | None = None

    def run(self) -> None:
        """Import, wait for the end, and repeat."""
        try:
            while not self.enough.is_set():
                self._import()
        except Exception as error:
            self.error = error
        finally:
            self.begun.set()

    def _import(self) -> None:
        source = self.folder / f"source-{self.imports}"
        source.mkdir()
        for number in range(IMPORTED_TOGETHER):
            page = self.templates[number % len(self.templates)]
            remark = f"page {self.imports}/{number}".encode()
            # A comment after the first marker makes it a different file with the same picture.
            comment = b"\xff\xfe" + (len(remark) + 2).to_bytes(2, "big") + remark
            (source / f"{number:03}.jpg").write_bytes(page[:2] + comment + page[2:])
        job = self.engine.ask("POST", "/api/documents/import", {"folder": str(source)})["job_id"]
        self.first_job = self.first_job or job
        self.begun.set()
        while (state := self.engine.ask("GET", f"/api/activity/jobs/{job}")["state"]) in (
            "waiting",
            "running",
        ):
            time.sleep(0.25)
        assert state == "done", state
        self.imports += 1
        self.pages += IMPORTED_TOGETHER
        shutil.rmtree(source)


@dataclass
class LoadOutcome:
    """The outcome of a load test."""

    clients: int
    seconds: float
    pause: float
    herd: bool
    met: list[ClientFigures]
    imports: int
    pages: int
    database: Path
    shared: str
    """The document that all clients rename."""
    memory: list[tuple[float, int]] = field(default_factory=list)
    """(seconds since the clients began, bytes of the engine's resident set); the first is from before the first client.
    """
    worked: float = 0.0
    """Seconds of CPU time the engine used while the clients ran."""
    loop: tuple[float, float] = (0.0, 0.0)
    """Seconds of that time in which its event loop ran and waited for a CPU: what a busy machine adds."""

    def times(self, *kinds: str, reads: bool | None = None) -> list[float]:
        """Return milliseconds of the named kinds, or of all reads or all writes, sorted."""
        return sorted(
            one
            for met in self.met
            for kind, times in met.times.items()
            if kind in kinds or reads is (kind not in WRITES)
            for one in times
        )

    def memory_at(self, moment: float) -> int:
        """Return the bytes held at *moment*: the median of the samples of the ten seconds around it."""
        near = sorted(held for at, held in self.memory if abs(at - moment) <= 5.0)
        return near[len(near) // 2] if near else self.memory[-1][1]

    def describe(self) -> str:
        """Return the figures, one line each."""
        reads, writes = self.times(reads=True), self.times(reads=False)
        asked = len(reads) + len(writes)
        paced = f"{self.pause:.2f} s between two requests" if self.pause else "no pause (closed loop)"
        paced += ", all at one moment every 20 s" if self.herd else ""
        warm, end = self.memory_at(min(WARM_UP, self.seconds / 2)), self.memory_at(self.seconds - 5.0)
        lines = [
            f"{self.clients} clients, {paced}, {self.seconds:.0f} s; import: {self.pages} pages in {self.imports} runs",
            f"throughput {asked / self.seconds:.0f} requests/s, {len(writes) / max(asked, 1):.0%} of them writes; "
            f"the engine used {self.worked / self.seconds:.2f} CPUs; its event loop ran {self.loop[0] / self.seconds:.0%} "
            f"of the time and waited for a CPU {self.loop[1] / self.seconds:.0%} of it",
            f"reads   {_figures(reads)}",
            f"writes  {_figures(writes)}",
            *(f"  {kind:22}{_figures(self.times(kind))}" for kind in self.kinds()),
            f"the clients' own processes woke late by {_figures(sorted(late for met in self.met for late in met.lateness))}",
            f"locked {self.sum('locked')}, lost {len(list_lost(self))}, unanswered {self.sum('unanswered')}, "
            f"odd answers {sum(len(met.odd) for met in self.met)}; {self.sum('stale')} changes refused as too late",
            f"memory {_mib(self.memory[0][1])} at rest, {_mib(warm)} warm, {_mib(end)} at the end "
            f"({end / warm - 1:+.1%} since warm)",
            "memory by time  "
            + "  ".join(
                f"{moment:.0f} s {_mib(self.memory_at(moment))}" for moment in _moments(self.seconds)
            ),
        ]
        return "\n".join(lines)

    def kinds(self) -> list[str]:
        """Return the kinds of request."""
        return sorted({kind for met in self.met for kind in met.times})

    def sum(self, what: str) -> int:
        """Add up a count over the processes of clients."""
        return int(sum(getattr(met, what) for met in self.met))


WRITES = frozenset({"new document", "correction", "segment changed", "document renamed"})


def _mib(held: int) -> str:
    return f"{held / 2**20:.0f} MiB"


def _moments(seconds: float) -> list[float]:
    step = 30.0 if seconds <= 300 else 60.0
    return [step * n for n in range(1, int(seconds // step) + 1)]


def _figures(times: list[float]) -> str:
    if not times:
        return "none"

    def at(part: float) -> float:
        return times[min(len(times) - 1, int(len(times) * part))]

    return f"{len(times):7}  p50 {at(0.5):6.1f} ms  p95 {at(0.95):6.1f} ms  p99 {at(0.99):6.1f} ms  max {times[-1]:7.1f} ms"


def run_load(
    folder: Path, *, clients: int, seconds: float, pause: float, herd: bool = False, processes: int = 2
) -> LoadOutcome:
    """Serve, import and run the clients for *seconds*; then stop the engine and check the database."""
    with serve(folder) as engine:
        ground = prepare_project(engine, clients)
        importing = Importing(engine, folder)
        memory = [(0.0, engine.memory())]
        importing.start()
        importing.begun.wait(60)
        host, _, port = engine.base_url.removeprefix("http://").partition(":")
        each = clients // processes
        clients_of_plans = []
        for number in range(processes):
            plan = Plan(
                host=host,
                port=int(port),
                headers=engine.headers,
                first=number * each,
                clients=each,
                seconds=seconds,
                pause=pause,
                herd=herd,
                job=importing.first_job,
                **ground,
            )
            path = folder / f"plan-{number}.json"
            path.write_text(json.dumps(asdict(plan)))
            with (folder / f"met-{number}.json").open("wb") as out:
                program = Path(__file__).with_name("load_clients.py")
                clients_of_plans.append(subprocess.Popen([sys.executable, program, path], stdout=out))
        began, worked, loop = time.monotonic(), engine.cpu_seconds(), engine.loop_times()
        while any(client.poll() is None for client in clients_of_plans):
            time.sleep(0.5)
            memory.append((time.monotonic() - began, engine.memory()))
        worked = engine.cpu_seconds() - worked
        ran, waited = engine.loop_times()
        assert all(client.returncode == 0 for client in clients_of_plans)
        importing.enough.set()
        importing.join(120)
        if importing.error is not None:
            raise importing.error
    met = [
        ClientFigures(**json.loads((folder / f"met-{number}.json").read_text()))
        for number in range(processes)
    ]
    return LoadOutcome(
        clients,
        seconds,
        pause,
        herd,
        met,
        importing.imports,
        importing.pages,
        engine.library / "library.sqlite",
        ground["shared"],
        memory,
        worked,
        (ran - loop[0], waited - loop[1]),
    )


def list_lost(came: LoadOutcome) -> list[str]:
    """Describe what was acknowledged and is missing, or exists without acknowledgement."""
    conn = sqlite3.connect(came.database)
    found: list[str] = []
    documents = {row[0] for row in conn.execute("SELECT id FROM document")}
    found += [f"document {one}" for met in came.met for one in met.made if one not in documents]
    readings = {row[0] for row in conn.execute("SELECT id FROM content_representation")}
    found += [f"reading {one}" for met in came.met for one in met.corrected if one not in readings]
    # A correction is made on condition of the reading that was seen, so no reading is corrected twice.
    found += [
        f"a correction of {row[0]}, which somebody else had corrected"
        for row in conn.execute(
            "SELECT corrects_representation_id FROM content_representation"
            " WHERE corrects_representation_id IS NOT NULL GROUP BY 1 HAVING count(*) > 1"
        )
    ]
    changed: dict[str, int] = {}
    for met in came.met:
        for segment, count in met.changed.items():
            changed[segment] = changed.get(segment, 0) + count
    for segment, count in changed.items():
        counted, version = conn.execute(
            "SELECT kind_raw, version FROM segment WHERE id = ?", (segment,)
        ).fetchone()
        if (int(counted), version) != (count, count + 1):
            found.append(f"segment {segment}: {count} acknowledged, counted to {counted}, version {version}")
    (renames,) = conn.execute(
        "SELECT count(*) FROM document__history WHERE op = 'U' AND id = ?", (came.shared,)
    ).fetchone()
    if renames != came.sum("renamed"):
        found.append(f"renames: {came.sum('renamed')} acknowledged, {renames} in the history")
    (pictures,) = conn.execute("SELECT count(*) FROM rendition").fetchone()
    if pictures != came.pages:
        found.append(f"pictures: {came.pages} imported, {pictures} there")
    conn.close()
    return found
