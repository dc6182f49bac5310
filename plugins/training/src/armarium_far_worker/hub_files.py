"""A private dataset repository of the model hub as a file store: list, upload, download. Standard library only.

Small files are part of a commit. Large ones go through the hub's large-file store, which knows each by its
SHA-256, so that a file already there is not sent again. Who makes the requests is a parameter: the engine's
gate, or urllib in a container.
"""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Protocol
from urllib.parse import quote

from armarium_far_worker.work import digest_of

MAIN = "main"
SAMPLE = 512
"""How many bytes of a file the hub examines to decide how it is to be sent."""
AT_ONCE = 100
"""How many files go into one commit."""
LFS = {"accept": "application/vnd.git-lfs+json", "content-type": "application/vnd.git-lfs+json"}


class HubError(Exception):
    """An unexpected answer of the hub; its message contains no secret."""


class Wire(Protocol):
    """How requests are made; headers with the token are up to the caller."""

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        """Send a request with a small body; return status and body of the answer."""

    def send_file(self, url: str, headers: Mapping[str, str], path: Path) -> int:
        """Upload a file; return the status."""

    def fetch(self, url: str, headers: Mapping[str, str], target: Path, sha256: str | None) -> None:
        """Download a whole file, or raise."""


class HubFiles:
    """The files of one repository; paths are relative to it."""

    def __init__(self, wire: Wire, endpoint: str, repo: str, token: str) -> None:
        self.wire = wire
        self.endpoint = endpoint.rstrip("/")
        self.repo = repo
        self._headers = {"authorization": f"Bearer {token}"}

    def ask(self, method: str, path: str, body: Any = None, *, accept: Sequence[int] = ()) -> Any:
        """Call the hub's API with a JSON body and return its JSON answer. HubError unless the status is 2xx
        or in *accept*.
        """
        data = None if body is None else json.dumps(body).encode()
        headers = {**self._headers, **({} if body is None else {"content-type": "application/json"})}
        return self._answer(*self.wire.ask(method, f"{self.endpoint}{path}", headers, data), path, accept)

    def _answer(self, status: int, data: bytes, path: str, accept: Sequence[int]) -> Any:
        if not (200 <= status < 300 or status in accept):
            raise HubError(f"The model hub answered {status} to {path.partition('?')[0]}: {_words(data)}")
        try:
            return json.loads(data) if data else {}
        except ValueError:
            if status in accept:
                return {}
            raise HubError(f"The model hub's answer to {path.partition('?')[0]} is not JSON.") from None

    def make(self) -> None:
        """Create the repository as a private one, unless it exists."""
        owner, _, name = self.repo.rpartition("/")
        body = {
            "type": "dataset",
            "name": name,
            "private": True,
            **({"organization": owner} if owner else {}),
        }
        self.ask("POST", "/api/repos/create", body, accept=(409,))

    def is_private(self) -> bool:
        """Return whether nobody else can read it."""
        return self.ask("GET", f"/api/datasets/{self.repo}").get("private") is True

    def list_paths(self, folder: str) -> set[str]:
        """Return the paths of the files below *folder*; none if it does not exist."""
        path = f"/api/datasets/{self.repo}/tree/{MAIN}/{quote(folder)}?recursive=true"
        entries = self.ask("GET", path, accept=(404,))
        return (
            {str(entry["path"]) for entry in entries if entry.get("type") == "file"}
            if isinstance(entries, list)
            else set()
        )

    def put(self, files: Mapping[str, Path], message: str) -> None:
        """Upload *files* (remote path to local file), a number of them per commit."""
        items = list(files.items())
        for start in range(0, len(items), AT_ONCE):
            self._put(dict(items[start : start + AT_ONCE]), message)

    def _put(self, files: Mapping[str, Path], message: str) -> None:
        samples = []
        for path, file in files.items():
            with file.open("rb") as opened:
                sample = base64.b64encode(opened.read(SAMPLE)).decode()
            samples.append({"path": path, "size": file.stat().st_size, "sample": sample})
        answer = self.ask("POST", f"/api/datasets/{self.repo}/preupload/{MAIN}", {"files": samples})
        large = {
            file["path"]
            for file in answer["files"]
            if file["uploadMode"] == "lfs" and files[file["path"]].stat().st_size
        }
        digests = {path: digest_of(files[path]) for path in large}
        self._put_large({digests[path]: files[path] for path in large})
        lines: list[dict[str, Any]] = [{"key": "header", "value": {"summary": message, "description": ""}}]
        for path, file in files.items():
            if path in large:
                value = {"path": path, "algo": "sha256", "oid": digests[path], "size": file.stat().st_size}
                lines.append({"key": "lfsFile", "value": value})
            else:
                content = base64.b64encode(file.read_bytes()).decode()
                lines.append(
                    {"key": "file", "value": {"path": path, "encoding": "base64", "content": content}}
                )
        data = b"\n".join(json.dumps(line).encode() for line in lines)
        path = f"/api/datasets/{self.repo}/commit/{MAIN}"
        headers = {**self._headers, "content-type": "application/x-ndjson"}
        self._answer(*self.wire.ask("POST", f"{self.endpoint}{path}", headers, data), path, ())

    def _put_large(self, files: Mapping[str, Path]) -> None:
        if not files:
            return
        path = f"/datasets/{self.repo}.git/info/lfs/objects/batch"
        objects = [{"oid": oid, "size": file.stat().st_size} for oid, file in files.items()]
        request = {
            "operation": "upload",
            "transfers": ["basic"],
            "objects": objects,
            "hash_algo": "sha256",
            "ref": {"name": MAIN},
        }
        headers = {**self._headers, **LFS}
        answer = self.wire.ask("POST", f"{self.endpoint}{path}", headers, json.dumps(request).encode())
        for entry in self._answer(*answer, path, ())["objects"]:
            actions = entry.get("actions") or {}
            if "upload" not in actions:
                # It is already there.
                continue
            upload = actions["upload"]
            status = self.wire.send_file(upload["href"], upload.get("header") or {}, files[entry["oid"]])
            if not 200 <= status < 300:
                raise HubError(f"The model hub's store answered {status} to an uploaded file.")
            if "verify" in actions:
                verify = actions["verify"]
                body = json.dumps({"oid": entry["oid"], "size": entry["size"]}).encode()
                # The token is the hub's and is sent to no other host.
                own = self._headers if verify["href"].startswith(f"{self.endpoint}/") else {}
                reply = self.wire.ask(
                    "POST", verify["href"], {**own, **LFS, **(verify.get("header") or {})}, body
                )
                self._answer(*reply, "verify", ())

    def take(self, path: str, target: Path, sha256: str | None = None) -> None:
        """Download the file at *path* to *target*."""
        target.parent.mkdir(parents=True, exist_ok=True)
        url = f"{self.endpoint}/datasets/{self.repo}/resolve/{MAIN}/{quote(path)}"
        self.wire.fetch(url, self._headers, target, sha256)


def _words(data: bytes) -> str:
    try:
        answer = json.loads(data)
        return str(answer["error"])[:300]
    except (ValueError, KeyError, TypeError):
        return "it gives no reason"
