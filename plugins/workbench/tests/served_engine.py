"""A real engine in a process of its own, for tests in a browser: started, asked over HTTP, killed, started again."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote
from xml.sax.saxutils import escape, quoteattr

from armarium_demo.samples import SamplePage

SHARED = Path(__file__).resolve().parents[4] / "shared"
"""Real pages of others, beside the checkout where there are any."""

ARMARIUM = Path(sys.executable).with_name("armarium")


class ServedEngine:
    """An engine as `armarium serve` runs it, at one address also after it was killed."""

    def __init__(self, folder: Path, program: Sequence[str] = (str(ARMARIUM),)) -> None:
        self.folder = folder
        self.program = program
        self.state = folder / "state"
        self.port = 0
        self.library: str | None = None
        self.link = ""
        self._process: subprocess.Popen[str] | None = None

    @property
    def address(self) -> str:
        return f"http://127.0.0.1:{self.port}"

    def start(self) -> None:
        """Start it, and read its address and its link from what it prints."""
        command = [*self.program, "serve", "--port", str(self.port), "--no-browser"]
        environment = {**os.environ, "SERVICE_STATE_DIR": str(self.state), "SERVICE_LOCAL_ONLY": "true"}
        environment["SERVICE_LIBRARY_ROOTS"] = f"{self.folder}:{SHARED}"
        self._process = subprocess.Popen(
            command, cwd=self.folder, env=environment, stdout=subprocess.PIPE, text=True
        )
        assert self._process.stdout is not None
        self.port = int(re.search(r":(\d+)/", self._process.stdout.readline())[1])  # type: ignore[index]
        self.link = self._process.stdout.readline().split()[-1]

    def kill(self) -> None:
        """End it as a power cut does."""
        assert self._process is not None
        self._process.send_signal(signal.SIGKILL)
        self._process.wait(30)

    def stop(self) -> None:
        if self._process is not None and self._process.poll() is None:
            self._process.terminate()
            self._process.wait(30)

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        *,
        token: str | None = None,
        library: str | None = None,
    ) -> Any:
        """Send one request as the owner, or with another token, about the project, or another; return the answer."""
        token = token or (self.state / "owner-token").read_text().strip()
        headers = {"Authorization": f"Bearer {token}"}
        if library := library or self.library:
            headers["X-Service-Library-Path"] = quote(library)
        data = None
        if body is not None:
            data, headers["Content-Type"] = json.dumps(body).encode(), "application/json"
        request = urllib.request.Request(self.address + path, data, headers, method=method)
        with urllib.request.urlopen(request) as answer:
            return json.load(answer)

    def new_link(self, place: str | None = None) -> str:
        """Return another one-time link, as `armarium open` makes them."""
        code = self.ask("POST", "/api/pair/code", {"role": "owner", "browser": True})["code"]
        return f"{self.address}/#code={code}" + ("" if place is None else f"&to={quote(place, safe='')}")

    def import_folder(self, folder: Path) -> dict[str, str]:
        """Import a folder into the project; return the ids of its pages by their names."""
        job = self.ask("POST", "/api/documents/import", {"folder": str(folder)})["job_id"]
        while (node := self.ask("GET", f"/api/activity/jobs/{job}"))["state"] in ("waiting", "running"):
            time.sleep(0.1)
        assert node["state"] == "done", node
        # Thumbnails are drawn by jobs of their own; a page that asks for one before is answered 404.
        while any(
            item["state"] in ("waiting", "running") for item in self.ask("GET", "/api/activity/jobs")["items"]
        ):
            time.sleep(0.1)
        return {row["name"]: row["id"] for row in self._below(None) if row["file_type"]}

    def _below(self, parent: str | None) -> Iterator[dict[str, Any]]:
        query = "" if parent is None else f"&parent_id={parent}"
        for row in self.ask("GET", f"/api/documents?limit=1000{query}")["items"]:
            yield row
            if row["child_count"]:
                yield from self._below(row["id"])


def write_page(folder: Path, name: str, page: SamplePage, texts: list[str]) -> None:
    """Write a sample page under another name, and beside it a layout file that gives its lines these texts."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / f"{name}.jpg").write_bytes(page.jpeg)
    regions, given = [], iter(texts)
    for region in page.regions:
        lines = "".join(
            f"<TextLine id='{line.id}'><Coords points='{_points(line.polygon)}'/>"
            f"<Baseline points='{_points(line.baseline)}'/>"
            f"<TextEquiv conf='0.{60 + line.order % 35}'><Unicode>{escape(next(given))}</Unicode></TextEquiv></TextLine>"
            for line in region.lines
        )
        regions.append(
            f"<TextRegion id='{region.id}'><Coords points='{_points(region.polygon)}'/>{lines}</TextRegion>"
        )
    (folder / f"{name}.xml").write_text(
        "<PcGts xmlns='http://schema.primaresearch.org/PAGE/gts/pagecontent/2019-07-15'>"
        f"<Page imageFilename={quoteattr(name + '.jpg')} imageWidth='{page.width}' imageHeight='{page.height}'>"
        f"{''.join(regions)}</Page></PcGts>",
        encoding="utf-8",
    )


def _points(points: tuple[tuple[float, float], ...]) -> str:
    return " ".join(f"{round(x)},{round(y)}" for x, y in points)
