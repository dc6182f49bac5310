"""A person at work in the tests of training: pages whose rows are lines, read by a machine and corrected by persons."""

from __future__ import annotations

import io
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from training_samples import (
    LoopbackConverter,
    LoopbackDetector,
    LoopbackFinder,
    LoopbackLora,
    LoopbackTrainer,
)

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_layout.api import DETECTORS
from armarium_training.trainers import CONVERTERS, GROUP

MACHINE = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)
ROW = 60


@dataclass
class Desk:
    """Short ways to do and to look."""

    engine: Engine
    library: Library
    client: Any
    shade: int = 200

    def do(self, name: str, params: dict[str, Any], who: Any = LOCAL_OWNER) -> dict[str, Any]:
        return self.engine.run(self.library, name, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def picture(self, rows: int, shade: int | None = None, size: tuple[int, int] | None = None) -> str:
        """A page of *rows* inked rows; pages are different pictures unless *shade* is the same. Its id."""
        from PIL import Image

        self.shade += shade is None
        width, height = size or (400, rows * ROW)
        image = Image.new("L", (width, height), shade or self.shade)
        for row in range(rows):
            for left in range(40, 360, 12):
                image.paste(30, (left, row * ROW + 20, left + 4, row * ROW + 40))
        file = io.BytesIO()
        image.save(file, "PNG")
        data = file.getvalue()
        box = self.do("document.create", {"name": "Box"})["id"]
        page = new_id()
        node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "1.png"}
        picture = {
            "checksum": self.library.objects.put_bytes(data),
            "mime_type": "image/png",
            "size_bytes": len(data),
            "pixel_width": width,
            "pixel_height": height,
        }
        self.do("document.add_files", {"nodes": [{**node, "picture": picture}]})
        return page

    def page(
        self,
        texts: Sequence[str],
        by: str = "teacher",
        shade: int | None = None,
        size: tuple[int, int] | None = None,
    ) -> tuple[str, list[str]]:
        """A page with a line for each text, as the machine *by* read it: (page, lines)."""
        page = self.picture(max(1, len(texts)), shade, size)
        pass_id = str(self.do("segment.pass_create", {"document_id": page, "name": f"Read by {by}"})["id"])
        lines = self.lines(page, pass_id, len(texts))
        self.read(page, pass_id, dict(zip(lines, texts, strict=True)), by)
        return page, lines

    def lines(self, page: str, pass_id: str, count: int) -> list[str]:
        made = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "line",
                "anchor": {"rect": [0.05, (row + 0.25) / count, 0.9, 0.5 / count]},
            }
            for row in range(count)
        ]
        return (
            [item["id"] for item in self.do("segment.create_many", {"segments": made})["items"]]
            if count
            else []
        )

    def read(self, page: str, pass_id: str, texts: dict[str, str], by: str) -> None:
        readings = [{"segment_id": line, "text": text} for line, text in texts.items() if text]
        if readings:
            given = {
                "document_id": page,
                "pass_id": pass_id,
                "provider": by,
                "model": by,
                "readings": readings,
            }
            self.do("reading.take", given, MACHINE)

    def correct(self, line: str, text: str) -> str:
        return str(self.do("representation.create", {"segment_id": line, "text": text})["id"])

    def reading_of(self, line: str) -> str:
        ((identity,),) = self.rows(
            "SELECT id FROM content_representation WHERE segment_id = ? ORDER BY created_at DESC, id DESC LIMIT 1",
            line,
        )
        return str(identity)

    def verdict(self, line: str, verdict: str) -> None:
        given = {
            "layer": "readings",
            "target_id": self.reading_of(line),
            "verdict": verdict,
            "reasons": "Seen",
        }
        self.do("check.verdict", given)

    def set(self, scope: Sequence[str], teacher: str = "teacher", **more: Any) -> dict[str, Any]:
        answer = self.client.get(
            "/api/training/set", params={"teacher": teacher, "scope_ids": list(scope), **more}
        )
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def give_trainers(self) -> None:
        for one in (LoopbackTrainer, LoopbackDetector, LoopbackLora):
            self.engine.drivers.give(GROUP, one.name, one)
        self.engine.drivers.give(DETECTORS, LoopbackFinder.name, LoopbackFinder)
        self.engine.drivers.give(CONVERTERS, LoopbackConverter.name, LoopbackConverter)

    def vision_model(self, name: str = "tiny-8B") -> None:
        """Put a folder that looks like a vision model's among the project's models."""
        folder = self.library.models / "vision" / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "config.json").write_text("{}", "utf-8")

    def draw_regions(self, page: str, kinds: Sequence[str]) -> None:
        """Regions of these kinds that a person drew on a page, one under the other."""
        pass_id = self.do("segment.pass_create", {"document_id": page, "name": "Drawn"})["id"]
        height = 0.9 / len(kinds)
        regions = [
            {
                "document_id": page,
                "pass_id": pass_id,
                "kind": "region",
                "kind_raw": kind,
                "anchor": {"rect": [0.1, 0.05 + height * number, 0.8, 0.8 * height]},
            }
            for number, kind in enumerate(kinds)
        ]
        self.do("segment.create_many", {"segments": regions})

    def start(self, scope: Sequence[str], **more: Any) -> str:
        """Start a training here; its job."""
        self.give_trainers()
        body = {"scope_ids": list(scope), "teacher": "teacher", "base": "hand-base", **more}
        answer = self.client.post("/api/training/linereader/here", json=body)
        assert answer.status_code == 200, answer.text
        assert answer.json()["audit_id"]
        return str(answer.json()["job_id"])

    def train(self, scope: Sequence[str], **more: Any) -> dict[str, Any]:
        """Train to the end; the training as answered."""
        job_id = self.start(scope, **more)
        self.engine.jobs.run_until_idle(self.library)
        return self.training(job_id)

    def training(self, job_id: str) -> dict[str, Any]:
        answer = self.client.get(f"/api/training/jobs/{job_id}")
        assert answer.status_code == 200, answer.text
        found_answer: dict[str, Any] = answer.json()
        return found_answer

    def card_path(self, model: str) -> Path:
        return self.library.models / "hand" / f"{model}.card.json"

    def card(self, model: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads(self.card_path(model).read_text("utf-8"))
        return found

    def hub_token(self) -> None:
        """Give the engine a token of the model hub."""
        stated = {"name": "Hub", "provider_type": "model-hub", "api_base": "http://127.0.0.1:9"}
        result = self.engine.run(None, "provider.create", stated, LOCAL_OWNER).result or {}
        given = {"provider_id": result["id"], "key": "hf_secret_0123456789"}
        self.engine.run(None, "provider.set_key", given, LOCAL_OWNER)
