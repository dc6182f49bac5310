"""A project for the tests of georeference: maps with passes, segments and control points."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from armarium.api import Engine, Library, new_id, raw_of
from armarium.principals import LOCAL_OWNER

OWNER = LOCAL_OWNER
MACHINE = replace(
    LOCAL_OWNER, kind="machine", role="editor", name="an agent", token_id="agent-1", token_kind="agent"
)
NOWHERE = "f" * 32
WIDTH, HEIGHT = 400, 250


@dataclass
class MapProject:
    """Creates maps, segments and control points in a project, and sends requests."""

    engine: Engine
    library: Library
    client: Any

    def do(self, action: str, who: Any = OWNER, /, **params: Any) -> dict[str, Any]:
        return self.engine.run(self.library, action, params, who).result or {}

    def rows(self, statement: str, *given: Any) -> list[tuple[Any, ...]]:
        with self.library.db.read() as conn:
            return raw_of(conn).execute(statement, given).fetchall()

    def page(self, size: tuple[int, int] = (WIDTH, HEIGHT)) -> tuple[str, str]:
        """Create a map with a grid drawn on it and a pass without segments; return (page, pass)."""
        from PIL import Image, ImageDraw

        image = Image.new("RGB", size, (235, 225, 200))
        draw = ImageDraw.Draw(image)
        for at in range(0, max(size), 25):
            draw.line((at, 0, at, size[1]), fill=(120, 90, 60))
            draw.line((0, at, size[0], at), fill=(60, 90, 120))
        file = io.BytesIO()
        image.save(file, "PNG")
        picture = {
            "checksum": self.library.objects.put_bytes(file.getvalue()),
            "mime_type": "image/png",
            "size_bytes": file.tell(),
            "pixel_width": size[0],
            "pixel_height": size[1],
        }
        box = self.do("document.create", name="Maps")["id"]
        page = new_id()
        node = {"id": page, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "Map.png"}
        self.do("document.add_files", nodes=[{**node, "picture": picture}])
        pass_id = str(self.do("segment.pass_create", document_id=page, name="Places")["id"])
        return page, pass_id

    def segments(self, page: str, pass_id: str, rects: Sequence[Sequence[float]], **more: Any) -> list[str]:
        made = [
            {"document_id": page, "pass_id": pass_id, "kind": "line", "anchor": {"rect": list(rect)}, **more}
            for rect in rects
        ]
        return [item["id"] for item in self.do("segment.create_many", segments=made)["items"]]

    def point(self, pass_id: str, x: float, y: float, lon: float, lat: float, **more: Any) -> str:
        return str(
            self.do("georeference.point_create", pass_id=pass_id, x=x, y=y, lon=lon, lat=lat, **more)["id"]
        )

    def points(self, pass_id: str, places: Sequence[Sequence[float]]) -> list[str]:
        return [self.point(pass_id, *place) for place in places]

    def get(self, path: str, status: int = 200, **query: Any) -> Any:
        answer = self.client.get(path, params=query)
        assert answer.status_code == status, answer.text
        return answer.json()

    def send(self, method: str, path: str, status: int, body: Any = None) -> Any:
        answer = self.client.request(method, path, json=body)
        assert answer.status_code == status, answer.text
        return answer.json()

    def transform(self, pass_id: str) -> dict[str, Any]:
        answer: dict[str, Any] = self.get(f"/api/georeference/passes/{pass_id}/transform")
        return answer

    def choose(self, pass_id: str, kind: str | None, status: int = 200, **more: Any) -> Any:
        path = f"/api/georeference/passes/{pass_id}/transformation"
        return self.send("PUT", path, status, {"type": kind, **more})

    def reader(self) -> Any:
        """Return a copy that sends requests as a device that may not read what is restricted."""
        answer = self.client.post("/api/tokens", json={"name": "a device", "role": "editor"}).json()
        secret = next(value for name, value in answer.items() if name == "token" or name.endswith("_token"))
        return lambda path: self.client.get(path, headers={"Authorization": f"Bearer {secret}"})
