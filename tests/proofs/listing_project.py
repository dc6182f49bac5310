"""A project with something in every listing, whose names and values would harm a statement into which they were pasted."""

from __future__ import annotations

import random
from dataclasses import replace
from pathlib import Path
from typing import Any

from starlette.testclient import TestClient

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.ids import new_id
from armarium.jobs.activity import record_activity
from armarium.principals import LOCAL_OWNER, Principal
from armarium.projects.libraries import Library

HARMFUL = (
    "' OR '1'='1", '" OR ""="', "') OR 1=1 --", "x'; DROP TABLE document; --", "1 UNION SELECT id FROM document",
    "%", "_", "*", "a%", "n_te", "[a-z]*", "\\", "\\'", "$", "$.x", "$[0]", "?1", ":parent", "@p0", "\x00", "a\x00b",
    "NULL", "null", "true", "0", "-1", "1e400", "NEAR(a b)", '"a" AND b', "a OR b", "a*", "é", "É", "ß", "\u0130",
    "' || (SELECT 1) || '", "/**/", "--", "';", "\n", " ", "id", "name", "d.deleted_at IS NOT NULL", "{}", "[]",
)  # fmt: skip
"""Values sent by a caller who hopes that they become part of a statement, a pattern or a path."""

ATTRIBUTES = (
    "place",
    "n",
    "date",
    "done",
    "a.b",
    "a[0]",
    "it's",
    "$",
    "x; DROP TABLE document",
    "back\\slash",
)
VALUES: tuple[Any, ...] = (
    "Toledo", "toledo", "Ánimo", "ánimo", "", "10", "9.5", 0, 3, -2.5, 10, True, False, None, "1750", "1750-03",
    "1750-03-15", "175X", "1749-12-31", 1750, ["Toledo", "Cuenca"], ["Toledo"], {"k": 1}, "' OR 1=1 --", "%", "_",
    "note", "nxte",
)  # fmt: skip
KINDS = ("letter", "odd-card", "' OR 1=1 --")


class ListingProject:
    """An engine, a project with something of each kind, and a client; ids by their kind."""

    def __init__(self, engine: Engine, client: TestClient, library: Library, folder: Path) -> None:
        self.engine, self.client, self.library = engine, client, library
        self.chance = random.Random(20)
        self.ids: dict[str, list[str]] = {}
        self._documents()
        self._page(folder)
        self._logs()

    def run(self, name: str, params: dict[str, Any], principal: Principal = LOCAL_OWNER, **how: Any) -> Any:
        outcome = self.engine.run(self.library, name, params, principal, **how)
        return outcome.result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        """Return the rows of a query."""
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            return raw.execute(statement, given).fetchall()

    def get(self, path: str, **query: Any) -> Any:
        """Return the answer to a valid request."""
        answer = self.client.get(path, params=query)
        assert answer.status_code == 200, answer.text
        return answer.json()

    def _documents(self) -> None:
        chance = self.chance
        self.run("classification.create", {"key": KINDS[1], "label": "Odd card"})
        self.folders: list[str] = []
        made: list[str] = []
        for number in range(90):
            params: dict[str, Any] = {
                "name": chance.choice(["n", "note", "nXte", "Ñ", "' OR 1=1 --", "100%", f"n{number % 7}"]),
                "parent_id": chance.choice([None, *self.folders[-6:]]),
                "doc_type": chance.choice(["folder", "group"]),
                "attributes": {a: chance.choice(VALUES) for a in ATTRIBUTES if chance.random() < 0.7},
                "prototype_key": chance.choice([None, *KINDS[:2]]),
            }
            made.append(self.run("document.create", params)["id"])
            if params["doc_type"] == "folder":
                self.folders.append(made[-1])
            if chance.random() < 0.3:
                date = chance.choice(["1750", "1750-03", "1801-02-03"])
                self.run("document.update", {"document_id": made[-1], "date_iso": date})
        for one in made[10:40:9]:
            self.run("bookmark.create", {"target_id": one, "parent_id": chance.choice([None, *self.folders])})
        for one in made[::11]:
            if not self.rows("SELECT 1 FROM document WHERE id = ? AND deleted_at IS NOT NULL", one):
                self.run("document.delete", {"ids": [one]})
        self.ids["document"] = made

    def _page(self, folder: Path) -> None:
        from PIL import Image

        chance = self.chance
        Image.new("L", (400, 300), 200).save(folder / "1.png")
        self.run("document.import", {"paths": [str(folder / "1.png")]})
        self.engine.jobs.run_until_idle(self.library, 60)
        self.page, frame = self.rows("SELECT document_id, id FROM rendition")[0]
        self.passes: list[str] = []
        segments: list[str] = []
        for number in range(3):
            lines = [
                {
                    "key": str(n),
                    "rect": [0.05 * n, 0.1 * n, 0.3, 0.08],
                    "kind": chance.choice(["line", "word", "region"]),
                }
                for n in range(9)
            ]
            result = self.run(
                "segment.take_lines",
                {
                    "document_id": self.page,
                    "rendition_id": frame,
                    "name": f"p{number}",
                    "provider": "test",
                    "lines": lines,
                },
            )
            self.passes.append(result["pass_id"])
            segments += result["segment_ids"]
            readings = [{"segment_id": segment_id, "text": "words"} for segment_id in result["segment_ids"]]
            self.run(
                "reading.take",
                {"document_id": self.page, "pass_id": self.passes[-1], "provider": "t", "readings": readings},
            )
        self.ids["segment"] = segments
        for text in ("first", "second"):
            answer = self.client.post(f"/api/segments/{segments[0]}/correct", json={"text": text})
            assert answer.status_code == 200, answer.text
        for number, text in enumerate(("highlight", "note", "comment")):
            self.run(
                "annotation.create",
                {
                    "document_id": self.page,
                    "kind": text,
                    "anchor_kind": "paragraph",
                    "paragraph_index": number,
                    "text": "x",
                    "targets": [{"segment_id": segments[number]}],
                },
            )
        for number, word in enumerate(("transcription", "keywords", "key_words", "keyxwords")):
            self.run(
                "artifact.create", {"document_id": self.page, "artifact_type": word, "content": str(number)}
            )
        self.uris = ["https://example.org/1", "https://example.org/'OR'1'='1", "https://example.org/_"]
        for segment, uri in zip(segments, self.uris, strict=False):
            self.run(
                "link.create", {"from_id": segment, "to_id": uri, "to_kind": "uri", "link_type": "same_as"}
            )
        self.run("link.delete", {"link_id": self.rows("SELECT id FROM link ORDER BY id")[1][0]})
        for name in "ab":
            self.run(
                "reading_order.create",
                {
                    "document_id": self.page,
                    "pass_id": self.passes[0],
                    "name": name,
                    "kind": "imposed",
                    "seed_from_pass": name == "a",
                },
            )
        self.orders = [row[0] for row in self.rows("SELECT id FROM reading_order ORDER BY created_at, id")]
        self.run("reading_order.withdraw", {"order_id": self.orders[-1]})

    def _logs(self) -> None:
        chance = self.chance
        machines = [
            replace(LOCAL_OWNER, kind="machine", name=name, run_id=run)
            for name, run in (("agent", "run-1"), ("' OR 1=1 --", "' OR 1=1 --"), ("a%", "run%"))
        ]
        undo = []
        for number in range(60):
            one = chance.choice([LOCAL_OWNER, *machines])
            how = {"set_id": f"set-{number % 3}"} if number % 4 == 0 else {}
            document = self.engine.run(self.library, "document.create", {"name": f"x{number}"}, one, **how)
            undo.append(document.audit_id)
        for audit_id in undo[::7]:
            assert audit_id is not None
            self.engine.undo(self.library, [audit_id], LOCAL_OWNER)
        with self.library.db.write() as conn:
            for _ in range(120):
                record_activity(
                    conn,
                    chance.choice(["system_info", "workflow_started", "node_failed", "batch_created"]),
                    chance.choice(
                        ["a 100% Note", "nOte", "É x", "é y", "' OR 1=1 --", "plain", "back\\slash"]
                    ),
                    level=chance.choice(["info", "warning", "error"]),
                    workflow_id=chance.choice([None, "w1", "w%"]),
                    batch_id=chance.choice([None, "b1", "' OR 1=1 --"]),
                    thread_id=chance.choice([None, "t1", "t_"]),
                    node_id=chance.choice([None, "n"]),
                )
        from types import SimpleNamespace

        from armarium_reading.caller import Caller, Subject
        from armarium_reading.ledger import ModelCall, record

        self.jobs = [row[0] for row in self.rows("SELECT id FROM job ORDER BY id")]
        for number in range(24):
            principal: Any = SimpleNamespace(name="x", run_id=str(number))
            job_id = chance.choice([*self.jobs, "' OR 1=1 --", None])
            page = chance.choice([self.page, "d%", new_id()])
            caller = Caller(self.engine, self.library, principal, job_id)
            exchange = {"prompt": "", "output": ""}
            record(caller, ModelCall("read", Subject(page), "p", "m", exchange, "2026", 0.1))
