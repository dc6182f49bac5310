"""What a job at the model hub runs: it fetches its files from the private repository, does the work and
uploads the result.
"""

from __future__ import annotations

import hashlib
import importlib.metadata
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from armarium_far_worker.hub_files import HubError, HubFiles
from armarium_far_worker.work import digest_of, do_work

SECONDS = 600.0
WHOLE = "whole"
"""A file that marks a finished environment."""
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]*")


class UrllibWire:
    """Requests with the standard library; a redirect does not carry the token along."""

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        """Send a request with a small body."""
        try:
            with urllib.request.urlopen(_request(method, url, headers, body), timeout=SECONDS) as answer:
                return answer.status, answer.read()
        except urllib.error.HTTPError as error:
            return error.code, error.read()

    def send_file(self, url: str, headers: Mapping[str, str], path: Path) -> int:
        """Upload a file, reading it as it is sent."""
        with path.open("rb") as file:
            request = _request("PUT", url, {**headers, "content-length": str(path.stat().st_size)}, file)
            try:
                with urllib.request.urlopen(request, timeout=SECONDS) as answer:
                    return int(answer.status)
            except urllib.error.HTTPError as error:
                return error.code

    def fetch(self, url: str, headers: Mapping[str, str], target: Path, sha256: str | None) -> None:
        """Download a file, writing it as it arrives."""
        try:
            with urllib.request.urlopen(_request("GET", url, headers, None), timeout=SECONDS) as answer:
                with target.open("wb") as file:
                    shutil.copyfileobj(answer, file)
        except urllib.error.HTTPError as error:
            raise HubError(
                f"The model hub answered {error.code} instead of the file {target.name}."
            ) from None
        if sha256 is not None and digest_of(target) != sha256:
            raise HubError(f"The file {target.name} is not the one expected: its SHA-256 differs.")


def _request(method: str, url: str, headers: Mapping[str, str], body: Any) -> urllib.request.Request:
    request = urllib.request.Request(url, data=body, method=method)
    for name, value in headers.items():
        # A header that is not redirected does not reach another host.
        request.add_unredirected_header(name, value)
    return request


def main(code: str) -> int:
    """Do the task that the environment names, with the packages in the folder *code*; return 0 if its result
    was uploaded.
    """
    here = os.environ
    files = HubFiles(UrllibWire(), here["ARMARIUM_ENDPOINT"], here["ARMARIUM_REPO"], here["HF_TOKEN"])
    folder = Path(tempfile.mkdtemp())
    try:
        files.take(here["ARMARIUM_TASK"], folder / "task.json")
        task = json.loads((folder / "task.json").read_text("utf-8"))
        data = folder / "data"
        for name, (path, sha256) in task["files"].items():
            files.take(path, data / name, sha256)
        install(task.get("requirements") or [], folder)
        result = do_work(task, data, Path(code), say)
        uploads = {name: data / name for name in (*result.get("files", ()), *result.get("stays", ()))}
        (folder / "result.json").write_text(json.dumps(result, ensure_ascii=False), "utf-8")
        out = here["ARMARIUM_OUT"]
        # The result comes last: once it is there, everything is there.
        if uploads:
            files.put({f"{out}/{name}": path for name, path in uploads.items()}, "What was made")
        files.put({f"{out}/result.json": folder / "result.json"}, "The result")
    except Exception as error:
        say(f"{type(error).__name__}: {error}")
        return 1
    finally:
        shutil.rmtree(folder, ignore_errors=True)
    say("done")
    return 0


def main_in_folder(code: str, folder: str, python: str) -> int:
    """Do the task in *folder*, which already contains its data, and write the result there; return 0 if it
    was written.

    *python* is the interpreter of the worker; empty means this one, or an environment created once for what
    it lacks.
    """
    place = Path(folder)
    task = json.loads((place / "task.json").read_text("utf-8"))
    try:
        interpreter = python or environment_for(task.get("requirements") or [])
        result = do_work(task, place / "data", Path(code), say, interpreter)
        (place / "result.json").write_text(json.dumps(result, ensure_ascii=False), "utf-8")
    except Exception as error:
        say(f"{type(error).__name__}: {error}")
        return 1
    return 0


def environment_for(requirements: list[str]) -> str:
    """Return the interpreter of an environment with *requirements*: this one if it has them, else one created
    and reused.
    """
    if not absent(requirements):
        return sys.executable
    digest = hashlib.sha256("\n".join([sys.version, *requirements]).encode()).hexdigest()[:24]
    place = Path.home() / ".cache" / "armarium-far" / digest
    python = place / ("Scripts/python.exe" if os.name == "nt" else "bin/python")
    if (place / WHOLE).is_file():
        return str(python)
    place.parent.mkdir(parents=True, exist_ok=True)
    with _hold_lock(place.with_suffix(".lock")):
        if not (place / WHOLE).is_file():
            shutil.rmtree(place, ignore_errors=True)
            subprocess.run([sys.executable, "-m", "venv", str(place)], check=True)
            (place / "requirements.txt").write_text("\n".join(requirements), "utf-8")
            command = [
                str(python),
                "-m",
                "pip",
                "install",
                "--quiet",
                "--requirement",
                str(place / "requirements.txt"),
            ]
            subprocess.run(command, check=True)
            (place / WHOLE).touch()
    return str(python)


@contextmanager
def _hold_lock(path: Path) -> Iterator[None]:
    """Keep all others on this machine out meanwhile; a lock left behind is broken after an hour."""
    while True:
        try:
            path.mkdir()
            break
        except FileExistsError:
            if time.time() - path.stat().st_mtime > 3600:
                path.rmdir()
            time.sleep(1)
    try:
        yield
    finally:
        path.rmdir()


def install(requirements: list[str], folder: Path) -> None:
    """Install those of *requirements* that are missing; without missing ones, nothing is requested."""
    if absent(requirements):
        path = folder / "requirements.txt"
        path.write_text("\n".join(requirements), "utf-8")
        command = [sys.executable, "-m", "pip", "install", "--quiet", "--requirement", str(path)]
        subprocess.run(command, check=True)


def absent(requirements: list[str]) -> list[str]:
    """Return those of *requirements* that are not installed in any version."""
    missing = []
    for line in requirements:
        name = _NAME.match(line)
        try:
            importlib.metadata.version(name.group() if name else line)
        except importlib.metadata.PackageNotFoundError:
            missing.append(line)
    return missing


def say(words: str) -> None:
    """Write a line to the job's log."""
    print(words, flush=True)
