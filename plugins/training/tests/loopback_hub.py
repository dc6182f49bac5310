"""A model hub on this machine: private repositories, jobs whose commands are really run in processes, and what went wrong.

Written after the requests that huggingface_hub 2.4 makes; it refuses what the hub would refuse.
"""

from __future__ import annotations

import base64
import hashlib
import json
import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, unquote, urlsplit

TOKEN = "hf_secret_0123456789"
LARGE = 2_000
"""Bytes from which a file goes to the store of large files."""


@dataclass
class FarJob:
    """A job and its process."""

    spec: dict[str, Any]
    stage: str = "SCHEDULING"
    log: list[str] = field(default_factory=list)
    process: subprocess.Popen[str] | None = None


class LoopbackModelHub:
    """One hub; `start_jobs` False leaves jobs waiting, `asked` counts requests by method and path."""

    def __init__(self) -> None:
        self.files: dict[str, bytes] = {}
        self.large: dict[str, bytes] = {}
        self.jobs: dict[str, FarJob] = {}
        self.asked: list[tuple[str, str]] = []
        self.private: bool | None = None
        self.start_jobs = True
        self.fail: dict[str, int] = {}
        """Path fragment to a status that is answered in place of the right one."""
        self.replace: dict[str, bytes] = {}
        """End of a path to what is answered for that file."""
        self.address = ""
        self._lock = threading.RLock()

    def asked_for(self, method: str, fragment: str) -> int:
        """How many requests there were."""
        return sum(one == method and fragment in path for one, path in self.asked)

    def run(self, job_id: str) -> None:
        """Run the command of a job to its end, with its environment and nothing of this process's."""
        job = self.jobs[job_id]
        command = [sys.executable if one == "python" else one for one in job.spec["command"]]
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        environment = {**kept, **job.spec["environment"], **job.spec.get("secrets", {})}
        with self._lock:
            job.stage = "RUNNING"
            job.process = subprocess.Popen(
                command, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
            )
        assert job.process.stdout is not None
        job.log.extend(line.rstrip() for line in job.process.stdout)
        status = job.process.wait()
        with self._lock:
            if job.stage == "RUNNING":
                job.stage = "COMPLETED" if status == 0 else "ERROR"

    def answer(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, bytes]:
        """The answer to a request: a status and bytes."""
        with self._lock:
            self.asked.append((method, path))
        for fragment, status in self.fail.items():
            if fragment in path:
                return status, json.dumps({"error": f"No room for {TOKEN}"}).encode()
        told = self._answer(method, path, query, body)
        return told if isinstance(told[1], bytes) else (told[0], json.dumps(told[1]).encode())

    def _answer(self, method: str, path: str, query: dict[str, list[str]], body: bytes) -> tuple[int, Any]:
        parts = path.strip("/").split("/")
        if path == "/api/whoami-v2":
            return 200, {"name": "somebody"}
        if path == "/api/repos/create":
            stated = json.loads(body)
            assert stated == {
                "type": "dataset",
                "name": "armarium-jobs",
                "private": True,
                "organization": "somebody",
            }
            there, self.private = self.private is not None, True if self.private is None else self.private
            return (409, {"error": "You already created this dataset repo"}) if there else (200, {})
        if parts[:2] == ["api", "jobs"]:
            return self._jobs(method, parts[2:], query, body)
        if parts[:4] == ["api", "datasets", "somebody", "armarium-jobs"]:
            return self._repository(parts[4:], body)
        if path == "/datasets/somebody/armarium-jobs.git/info/lfs/objects/batch":
            return 200, {"objects": [self._place(target) for target in json.loads(body)["objects"]]}
        if parts[:5] == ["datasets", "somebody", "armarium-jobs", "resolve", "main"]:
            name = unquote("/".join(parts[5:]))
            for end, data in self.replace.items():
                if name.endswith(end):
                    return 200, data
            return (200, self.files[name]) if name in self.files else (404, {"error": "Entry not found"})
        if parts[0] == "store":
            assert hashlib.sha256(body).hexdigest() == parts[1]
            self.large[parts[1]] = body
            return 200, b""
        return 404, {"error": "Not found"}

    def _place(self, one: dict[str, Any]) -> dict[str, Any]:
        if one["oid"] in self.large:
            return one
        return {**one, "actions": {"upload": {"href": f"{self.address}/store/{one['oid']}", "header": {}}}}

    def _repository(self, parts: list[str], body: bytes) -> tuple[int, Any]:
        if not parts:
            return 200, {"private": self.private}
        if parts[0] == "preupload":
            modes = [
                {
                    "path": file["path"],
                    "uploadMode": "lfs" if file["size"] > LARGE else "regular",
                    "shouldIgnore": False,
                }
                for file in json.loads(body)["files"]
            ]
            return 200, {"files": modes}
        if parts[0] == "tree":
            folder = unquote("/".join(parts[2:]))
            files = [name for name in self.files if name.startswith(f"{folder}/")]
            return (
                (200, [{"type": "file", "path": name} for name in files])
                if files
                else (404, {"error": "Entry not found"})
            )
        assert parts == ["commit", "main"]
        for line in body.splitlines():
            told = json.loads(line)
            value = told["value"]
            if told["key"] == "file":
                self.files[value["path"]] = base64.b64decode(value["content"])
            elif told["key"] == "lfsFile":
                data = self.large[value["oid"]]
                assert len(data) == value["size"]
                self.files[value["path"]] = data
        return 200, {"success": True}

    def _jobs(
        self, method: str, parts: list[str], query: dict[str, list[str]], body: bytes
    ) -> tuple[int, Any]:
        assert parts[0] == "somebody"
        if len(parts) == 1 and method == "POST":
            job_id = f"job{len(self.jobs)}"
            self.jobs[job_id] = FarJob(json.loads(body))
            if self.start_jobs:
                threading.Thread(target=self.run, args=(job_id,), daemon=True).start()
            return 200, self._describe_job(job_id)
        if len(parts) == 1:
            wanted = dict(one.split("=", 1) for one in query.get("label", []))
            found = [
                self._describe_job(job_id)
                for job_id, job in self.jobs.items()
                if wanted.items() <= job.spec["labels"].items()
            ]
            return 200, found
        job = self.jobs[parts[1]]
        if parts[2:] == ["cancel"]:
            with self._lock:
                job.stage = "CANCELED"
            if job.process is not None:
                job.process.kill()
            return 200, self._describe_job(parts[1])
        assert parts[2:] == ["logs"]
        lines = "".join(f"data: {json.dumps({'data': line, 'timestamp': ''})}\n\n" for line in job.log)
        return 200, f": keep-alive\n\n{lines}".encode()

    def _describe_job(self, job_id: str) -> dict[str, Any]:
        job = self.jobs[job_id]
        spec = {key: value for key, value in job.spec.items() if key != "secrets"}
        message = f"Killed with {TOKEN}" if job.stage == "ERROR" else None
        return {**spec, "id": job_id, "status": {"stage": job.stage, "message": message}}


@contextmanager
def running_hub() -> Iterator[LoopbackModelHub]:
    """A hub that listens on this machine."""
    hub = LoopbackModelHub()

    class Requests(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def _serve(self) -> None:
            parts = urlsplit(self.path)
            if self.headers.get("transfer-encoding") == "chunked":
                body = self._chunks()
            else:
                body = self.rfile.read(int(self.headers.get("content-length") or 0))
            if (
                not parts.path.startswith("/store/")
                and self.headers.get("authorization") != f"Bearer {TOKEN}"
            ):
                status, data = 401, b'{"error": "Who is there?"}'
            else:
                status, data = hub.answer(self.command, parts.path, parse_qs(parts.query), body)
            self.send_response(status)
            self.send_header("content-length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def _chunks(self) -> bytes:
            found = b""
            while size := int(self.rfile.readline(), 16):
                found += self.rfile.read(size)
                self.rfile.readline()
            self.rfile.readline()
            return found

        do_GET = do_POST = do_PUT = _serve

        def log_message(self, *_: Any) -> None:
            """Says nothing."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Requests)
    hub.address = f"http://127.0.0.1:{server.server_port}"
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    try:
        yield hub
    finally:
        for job in hub.jobs.values():
            if job.process is not None and job.process.poll() is None:
                job.process.kill()
        server.shutdown()
        server.server_close()
