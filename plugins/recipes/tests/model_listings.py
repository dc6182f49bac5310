"""Local doubles of the two public model listings, which answer as the services do: Zenodo's records with their files,
and the hub's models by task, language and name. They record the requests they receive.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

README = """---
id: https://doi.org/10.5281/zenodo.{record}
summary: {summary}
authors:
  - name: A. Scribe
    affiliation: Somewhere
license: {licence}
software_name: {software}
language:
- {language}
script:
- {script}
tags:
- {tag}
model_type:
- {kind}
metrics:
  cer: {cer}
---
# {summary}
"""


def readme(record: int, **said: Any) -> str:
    """Return a model card of the repository's present schema."""
    plain = {
        "summary": "Charters",
        "licence": "CC-BY-4.0",
        "software": "kraken",
        "language": "lat",
        "script": "Latn",
    }
    return README.format(
        record=record, **{**plain, "tag": "handwritten", "kind": "recognition", "cer": 0.041, **said}
    )


def old_card(**said: Any) -> str:
    """Return a card of the previous schema, which names no language."""
    plain = {
        "summary": "Arabic print",
        "description": "A model",
        "accuracy": 98.5,
        "license": "Apache-2.0",
        "script": ["Arab"],
        "graphemes": ["a"],
        "name": "arabic.mlmodel",
        "authors": [{"name": "B. Printer"}],
    }
    return json.dumps({**plain, **said})


def record(number: int, concept: int, title: str, files: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return a record as Zenodo's search answers it."""
    return {
        "id": number,
        "conceptrecid": str(concept),
        "doi": f"10.5281/zenodo.{number}",
        "title": title,
        "metadata": {
            "title": title,
            "doi": f"10.5281/zenodo.{number}",
            "version": "1.2",
            "access_right": "open",
            "keywords": ["kraken_pytorch"],
            "license": {"id": "cc-by-4.0"},
            "resource_type": {"title": "Other", "type": "publication", "subtype": "other"},
            **more,
        },
        "files": [
            {
                "key": name,
                "size": size if isinstance(size, int) else len(size),
                "checksum": "md5:0",
                "links": {"self": f"https://zenodo.org/api/records/{number}/files/{name}/content"},
            }
            for name, size in files.items()
        ],
    }


def model(name: str, *tags: str, **more: Any) -> dict[str, Any]:
    """Return a model as the hub's search answers it."""
    return {
        "_id": "0",
        "id": name,
        "modelId": name,
        "sha": "0123456789abcdef0123456789abcdef01234567",
        "private": False,
        "gated": False,
        "downloads": 10,
        "likes": 1,
        "tags": ["transformers", "safetensors", *tags],
        "pipeline_tag": "image-to-text",
        "library_name": "transformers",
        "siblings": [{"rfilename": "config.json"}, {"rfilename": "model.safetensors"}],
        **more,
    }


class Listings(ThreadingHTTPServer):
    """The content of both listings, and the paths that were requested."""

    daemon_threads = True
    records: list[dict[str, Any]]
    files: dict[str, str]
    models: list[dict[str, Any]]
    asked: list[str]
    redirect: str | None = None
    status: int = 200
    whole: bytes | None = None
    """The body of every answer, in place of the right one."""
    said: dict[str, str] | None = None
    """Headers of every answer, in place of the right ones; `Content-Length` may be false."""
    endless: bool = False
    """Whether the body of every answer is endless."""

    @property
    def address(self) -> str:
        """The address of both listings."""
        return f"http://127.0.0.1:{self.server_port}"


class _Handler(BaseHTTPRequestHandler):
    server: Listings

    def do_GET(self) -> None:
        at = urlsplit(self.path)
        self.server.asked.append(self.path)
        query = {key: values[0] for key, values in parse_qs(at.query).items()}
        if self.server.redirect is not None:
            self.send_response(302)
            self.send_header("Location", self.server.redirect)
            self.end_headers()
        elif self.server.whole is not None or self.server.status != 200:
            self._answer(self.server.whole or b"{}", self.server.status)
        elif at.path == "/api/records":
            self._json(self._records(query))
        elif at.path == "/api/models":
            self._json(self._models(query))
        elif at.path in self.server.files:
            self._answer(self.server.files[at.path].encode())
        else:
            self._answer(b'{"status": 404, "message": "not found"}', 404)

    def _records(self, query: dict[str, str]) -> dict[str, Any]:
        size, page = min(int(query["size"]), 25), int(query["page"])
        found = self.server.records if query["communities"] == "ocr_models" else []
        return {
            "hits": {"hits": found[(page - 1) * size : page * size], "total": len(found)},
            "aggregations": {},
            "links": {"self": self.server.address + self.path},
        }

    def _models(self, query: dict[str, str]) -> list[dict[str, Any]]:
        models = [
            one
            for one in self.server.models
            if query.get("pipeline_tag") in (None, one.get("pipeline_tag"))
            and query.get("filter") in (None, *one["tags"])
            and all(word in one["id"].lower() for word in query.get("search", "").split())
        ]
        return models[: int(query["limit"])]

    def _json(self, value: Any) -> None:
        self._answer(json.dumps(value).encode())

    def _answer(self, body: bytes, status: int = 200) -> None:
        self.send_response(status)
        headers = {"Content-Type": "application/json", "Content-Length": str(len(body))}
        for name, value in (headers if self.server.said is None else self.server.said).items():
            self.send_header(name, value)
        self.end_headers()
        try:
            self.wfile.write(body)
            while self.server.endless:
                self.wfile.write(b" " * (1 << 16))
        except OSError:
            # The client has closed the connection: it has read enough.
            self.close_connection = True

    def log_message(self, *_: object) -> None:
        return


@contextmanager
def listings() -> Iterator[Listings]:
    """Serve both listings, without entries, for the duration of the block."""
    server = Listings(("127.0.0.1", 0), _Handler)
    server.records, server.files, server.models, server.asked = [], {}, [], []
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True)
    thread.start()
    try:
        yield server
    finally:
        server.shutdown()
        server.server_close()
