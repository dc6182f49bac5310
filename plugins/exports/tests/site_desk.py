"""Sites built by Eleventy for the tests, and served from a subfolder; the programs that look at them."""

from __future__ import annotations

import os
import shutil
import subprocess
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

CHECKS = Path(__file__).parent / "site_checks"
MODULES = Path(os.environ.get("ARMARIUM_SITE_MODULES") or CHECKS / "node_modules")
"""Eleventy, Pagefind, OpenSeadragon, html-validate, axe-core and playwright-core, as `npm ci` in `site_checks` brings them."""
CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

NO_NODE = (
    "Node, npm or the packages of plugins/exports/tests/site_checks are missing: say npm ci there, "
    "or name a node_modules folder in ARMARIUM_SITE_MODULES"
)
NO_CHROMIUM = "Chromium is missing: install the package chromium"
HAS_NODE = bool(shutil.which("npm") and (MODULES / "@11ty" / "eleventy").is_dir())


def build(place: Path, name: str = "node_modules") -> Path:
    """Build the Eleventy project in *place* by its own command, with the packages at hand; the folder of the site."""
    (place / name).symlink_to(MODULES, target_is_directory=True)
    run(["npm", "run", "build"], place)
    return place / "_site"


def run(command: list[str], place: Path, given: str | None = None) -> str:
    """What *command* says; an assertion with its words where it fails."""
    process = subprocess.run(
        command, cwd=place, input=given, capture_output=True, text=True, timeout=300, check=False
    )
    assert process.returncode == 0, process.stdout[-8000:] + process.stderr[-8000:]
    return process.stdout


class _Quiet(SimpleHTTPRequestHandler):
    def log_message(self, *_said: object) -> None:
        pass


@contextmanager
def serve_folder(folder: Path) -> Iterator[str]:
    """The address at which *folder* is served."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(_Quiet, directory=str(folder)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()
