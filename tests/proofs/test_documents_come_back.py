"""Random histories of every undoable action of documents, images and canvas: undo is exact, its refusals are predicted.
The Trash is emptied between histories; transfers have histories of their own, over two projects.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pytest

from armarium.api import raw_of
from armarium.engine import Engine
from armarium.errors import ServiceError
from armarium.ids import new_id
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium.projects.libraries import Library
from armarium_testing.histories import Histories, Move, World

Params = dict[str, Any]
Chosen = tuple[str, Params] | None
SIDES = (60, 40)
APART = {"document.transfer", "document.transfer_out"}
"""Actions on two projects, tested in test_transfers_are_exact."""


def families() -> list[Plugin]:
    from armarium_canvas.plugin import armarium_plugin as canvas
    from armarium_documents.plugin import armarium_plugin as documents
    from armarium_images.plugin import armarium_plugin as images

    return [documents(), images(), canvas()]


class Moves:
    """Random moves on a box of pages; some of them are refused, as they should be."""

    def __init__(self, engine: Engine, library: Library) -> None:
        self.engine, self.library = engine, library
        self.pictures = [_png(grey) for grey in (40, 120, 200)]
        self.outside = library.path.parent / "outside"
        self.outside.mkdir(exist_ok=True)
        (self.outside / "1.png").write_bytes(_png(80))
        for name in ("Box", "Bundle"):
            self.run("document.create", {"name": name})
        chance = random.Random(0)
        for _ in range(3):
            name, params = self.files(chance, World({})) or ("", {})
            self.run(name, params)

    def run(self, name: str, params: Params) -> Params:
        return self.engine.run(self.library, name, params, LOCAL_OWNER).result or {}

    def all(self) -> list[Move]:
        """Return every move, those that insert rows twice."""
        return [
            self.folder, self.files, self.files, self.note, self.change, self.change, self.move, self.delete,
            self.delete, self.restore, self.lock, self.picture, self.text, self.revise, self.artifact,
            self.boxes, self.boxes, self.annotate, self.annotate, self.annotation_changed, self.annotation_away,
            self.bookmark, self.kind, self.kind_changed, self.kind_away, self.propose, self.accept,
            self.reject, self.crop, self.crop, self.split, self.crop_many, self.uncut, self.batch_item,
            self.batch_undo, self.treat, self.start, self.lay, self.lay, self.item, self.item, self.item_changed,
            self.item_away,
        ]  # fmt: skip

    def between(self, chance: random.Random) -> None:
        """Do what cannot be undone: start batches, and empty the Trash."""
        folder = self._node(chance, "doc_type IS NULL OR doc_type = 'folder'")
        if folder and chance.random() < 0.5:
            halves = [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]
            try:
                self.run(
                    "image.batch_apply", {"folder_id": folder, "spec": {"kind": "split", "regions": halves}}
                )
            except ServiceError as refusal:
                if refusal.status >= 500:
                    raise
        if chance.random() < 0.2:
            self.run("document.empty_trash", {})
        while self._one(chance, "SELECT count(*) FROM document WHERE deleted_at IS NULL")[0] > 40:
            found = self._node(chance, "is_locked = 0") or self._node(chance)
            self.run("document.lock", {"document_id": found, "locked": False})
            try:
                self.run("document.delete", {"ids": [found]})
            except ServiceError as refusal:
                if refusal.status >= 500:
                    raise

    def _one(self, chance: random.Random, query: str) -> Any:
        with self.library.db.read() as conn:
            raw = raw_of(conn)
            rows = raw.execute(query).fetchall()
        return chance.choice(rows) if rows else None

    def _node(self, chance: random.Random, where: str = "1", *, live: bool = True) -> Any:
        found = self._one(
            chance,
            f"SELECT id FROM document WHERE system_key IS NULL AND deleted_at IS {'' if live else 'NOT'} NULL"
            f" AND ({where}) ORDER BY id",
        )
        return found and found[0]

    def _image(self, chance: random.Random) -> Any:
        return self._node(chance, "file_type = 'image'")

    def folder(self, chance: random.Random, _: World) -> Chosen:
        kind = chance.choice(("folder", "group", "page", None))
        given = {"name": f"n{chance.randrange(9)}", "parent_id": self._node(chance), "doc_type": kind}
        return "document.create", given

    def note(self, chance: random.Random, _: World) -> Chosen:
        given = {"name": "note", "parent_id": self._node(chance), "node_kind": "note"}
        return "document.create", {**given, "page_content": f"words {chance.randrange(9)}"}

    def files(self, chance: random.Random, _: World) -> Chosen:
        parent = self._node(chance, "doc_type IS NULL OR doc_type = 'folder'")
        # Stored each time, because emptying the Trash removes pictures that are no longer used.
        checksum = self.library.objects.put_bytes(chance.choice(self.pictures))
        picture = {
            "mime_type": "image/png",
            "size_bytes": 99,
            "pixel_width": SIDES[0],
            "pixel_height": SIDES[1],
        }
        nodes = [
            {
                "id": new_id(), "parent_id": parent, "doc_type": "file", "file_type": "image",
                "name": f"{chance.randrange(9)}.png",
                "picture": {**picture, "checksum": checksum},
            }
            for _ in range(chance.randrange(1, 3))
        ]  # fmt: skip
        return parent and ("document.add_files", {"nodes": nodes})

    def change(self, chance: random.Random, _: World) -> Chosen:
        what: Params = chance.choice(
            (
                {"name": f"m{chance.randrange(3)}"},
                {"attributes": {"n": chance.choice((chance.random(), "ñ", None, [1, {"a": 2.5}]))}},
                {"source_metadata": {"shelf": chance.randrange(3)}},
                {"is_starred": chance.random() < 0.5},
                {"date_iso": chance.choice(("1712-05", "1712?", None))},
                {"prototype_key": chance.choice(("letter", "k1", None))},
                {"direction": chance.choice(("rtl", None)), "script": "Arab"},
                {"page_content": f"text {chance.randrange(3)}"},
            )
        )
        node = self._node(chance)
        return node and ("document.update", {"document_id": node, **what})

    def move(self, chance: random.Random, _: World) -> Chosen:
        node, parent = self._node(chance), self._node(chance)
        return node and ("document.move", {"ids": [node], "parent_id": chance.choice((parent, None))})

    def delete(self, chance: random.Random, _: World) -> Chosen:
        found = {self._node(chance) for _ in range(chance.choice((1, 1, 2)))} - {None}
        return ("document.delete", {"ids": sorted(found)}) if found else None

    def restore(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance, live=False)
        return node and ("document.restore", {"document_id": node})

    def lock(self, chance: random.Random, _: World) -> Chosen:
        found = self._node(chance, "is_locked") if chance.random() < 0.7 else self._node(chance)
        return found and ("document.lock", {"document_id": found, "locked": chance.random() < 0.3})

    def picture(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT document_id, id FROM rendition ORDER BY is_primary, id")
        return found and ("rendition.set_primary", {"document_id": found[0], "rendition_id": found[1]})

    def text(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance)
        kind = chance.choice(("transcription", "translation"))
        return node and (
            "content_representation.create",
            {"document_id": node, "kind": kind, "content": f"so {chance.randrange(9)}"},
        )

    def revise(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM content_representation ORDER BY id")
        return found and (
            "representation.revise",
            {"representation_id": found[0], "content": f"thus {chance.randrange(9)}"},
        )

    def artifact(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance)
        boxes = [{"bbox": [n / 4, 0.1, 0.2, 0.1], "text": f"w{n}"} for n in range(3)]
        given = {"artifact_type": "transcription", "content": "w0 w1 w2", "confidence": chance.random()}
        geometry = {"provider": "reader", "boxes": boxes}
        return node and (
            "artifact.create",
            {"document_id": node, **given, "ocr_geometry": chance.choice((geometry, None))},
        )

    def boxes(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM artifact ORDER BY id")
        place = [chance.randrange(8) / 10, 0.5, 0.1, 0.1]
        edit = chance.choice(
            (
                {"op": "move", "index": chance.randrange(3), "bbox": place},
                {"op": "delete", "indices": [chance.randrange(3)]},
                {"op": "add", "bbox": place, "text": "new"},
                {"op": "combine", "indices": [0, 1]},
            )
        )
        return found and ("artifact.edit_regions", {"artifact_id": found[0], "edit": edit})

    def annotate(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance)
        given = {"anchor_kind": "bbox", "kind": "note", "anchor": {"rect": [0.1, 0.2, 0.3, 0.05]}}
        return node and (
            "annotation.create",
            {"document_id": node, **given, "text": "a second hand", "tags": [chance.choice("abc")]},
        )

    def annotation_changed(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM annotation ORDER BY id")
        what: Params = chance.choice(
            ({"text": f"{chance.randrange(3)}"}, {"tags": None}, {"color": "#aa0000"})
        )
        return found and ("annotation.update", {"annotation_id": found[0], **what})

    def annotation_away(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM annotation ORDER BY id")
        return found and ("annotation.delete", {"annotation_id": found[0]})

    def bookmark(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance)
        return node and ("bookmark.create", {"target_id": node, "name": "here"})

    def kind(self, chance: random.Random, _: World) -> Chosen:
        declared = [{"key": "n", "label": "Number", "type": "text"}]
        given = {"key": f"k{chance.randrange(4)}", "label": "Kind", "declarations": declared}
        return "classification.create", {**given, "parent_key": chance.choice(("letter", "k0", None))}

    def _own_kind(self, chance: random.Random) -> Any:
        return self._one(chance, "SELECT key FROM classification WHERE NOT builtin ORDER BY key")

    def kind_changed(self, chance: random.Random, _: World) -> Chosen:
        found = self._own_kind(chance)
        what: Params = chance.choice(
            ({"label": f"K{chance.randrange(3)}"}, {"parent_key": "k1"}, {"color": None})
        )
        return found and ("classification.update", {"key": found[0], **what})

    def kind_away(self, chance: random.Random, _: World) -> Chosen:
        found = self._own_kind(chance)
        return found and ("classification.delete", {"key": found[0]})

    def propose(self, chance: random.Random, _: World) -> Chosen:
        node = self._node(chance)
        given = {"value": chance.choice(("letter", "will", "k1")), "said": "It opens with a greeting."}
        return node and ("document.propose_kind", {"document_id": node, **given})

    def _proposal(self, chance: random.Random) -> Any:
        return self._node(chance, "metadata LIKE '%pending%'") or self._node(chance)

    def accept(self, chance: random.Random, _: World) -> Chosen:
        return "document.accept_kind", {"document_id": self._proposal(chance)}

    def reject(self, chance: random.Random, _: World) -> Chosen:
        return "document.reject_kind", {"document_id": self._proposal(chance)}

    def crop(self, chance: random.Random, _: World) -> Chosen:
        image = self._image(chance)
        box = {"left": chance.randrange(3), "top": 0, "width": chance.randrange(5, 70), "height": 20}
        return image and ("image.crop", {"document_id": image, **box})

    def split(self, chance: random.Random, _: World) -> Chosen:
        image, at = self._image(chance), chance.choice((0.25, 0.5))
        halves = [{"bbox": [0, 0, at, 1]}, {"bbox": [at, 0, 1 - at, 1], "label": "right"}]
        return image and ("image.split", {"document_id": image, "regions": halves})

    def crop_many(self, chance: random.Random, _: World) -> Chosen:
        found = sorted({self._image(chance) for _ in range(3)} - {None})
        region = {"left": 0.1, "top": 0.1, "width": chance.choice((0.5, 0.7)), "height": 0.8}
        return ("image.crop_batch", {"document_ids": found, "region": region}) if found else None

    def uncut(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance, "SELECT source_id FROM image_cut UNION SELECT child_id FROM image_cut ORDER BY 1"
        )
        return found and (chance.choice(("image.uncrop", "image.unsplit")), {"document_id": found[0]})

    def batch_item(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance, "SELECT batch_id, document_id FROM image_batch_item WHERE state = 'waiting' ORDER BY 1, 2"
        )
        return found and ("image.batch_item", {"batch_id": found[0], "document_id": found[1]})

    def batch_undo(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT DISTINCT batch_id FROM image_batch_item ORDER BY 1 DESC LIMIT 3")
        return found and ("image.batch_undo", {"batch_id": found[0]})

    def treat(self, chance: random.Random, _: World) -> Chosen:
        image = self._image(chance)
        return image and ("image.treat_item", {"document_id": image, "role": "enhanced"})

    def start(self, chance: random.Random, _: World) -> Chosen:
        """Start a job, which never runs here: undo cancels it, redo queues it again."""
        image = self._image(chance)
        if image is None or chance.random() < 0.5:
            return "document.import", {"folder": str(self.outside)}
        return "image.treat", {"scope_ids": [image], "role": "enhanced"}

    def lay(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(
            chance,
            "SELECT parent_id, id FROM document WHERE parent_id IS NOT NULL AND deleted_at IS NULL ORDER BY id",
        )
        row = {"x": chance.random(), "y": chance.randrange(900), "w": chance.choice((None, 90.5))}
        return found and (
            "canvas.save_layout",
            {"folder_id": found[0], "rows": [{"item_id": found[1], **row}]}
            if chance.random() < 0.8
            else {"folder_id": found[0], "remove": [found[1]]},
        )

    def item(self, chance: random.Random, _: World) -> Chosen:
        folder = self._node(chance, "doc_type IS NULL OR doc_type = 'folder'")
        return folder and (
            "canvas.item_create",
            {"folder_id": folder, "kind": "note", "text": f"see {chance.randrange(9)}"},
        )

    def item_changed(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM canvas_item ORDER BY id")
        what: Params = chance.choice(
            ({"text": f"{chance.randrange(3)}"}, {"payload": {"a": chance.random()}})
        )
        return found and ("canvas.item_update", {"item_id": found[0], **what})

    def item_away(self, chance: random.Random, _: World) -> Chosen:
        found = self._one(chance, "SELECT id FROM canvas_item ORDER BY id")
        return found and ("canvas.item_delete", {"item_id": found[0]})


def _png(grey: int) -> bytes:
    import io

    from PIL import Image

    image = Image.new("L", SIDES, grey)
    image.paste(20, (0, 0, 30, 40))
    file = io.BytesIO()
    image.save(file, "PNG")
    return file.getvalue()


def begin(make_engine: Callable[..., Engine], folder: Any, seed: int) -> tuple[Histories, Moves]:
    engine = make_engine(plugins=families(), state=f"state-{seed}")
    place = folder / f"{seed}.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    moves = Moves(engine, library)
    return Histories(engine, library, moves.all(), seed=seed), moves


def work(history: Histories, moves: Moves, sequences: int) -> None:
    for _ in range(sequences):
        moves.between(history.random)
        history.content = history.read()
        history.run(1)
        assert not set(history.tally.refused) - {"changed", "already-undone"}


def prove(make_engine: Callable[..., Engine], folder: Any, seeds: range, sequences: int) -> None:
    for seed in seeds:
        history, moves = begin(make_engine, folder, seed)
        work(history, moves, sequences)
        assert history.tally.steps > 0
        assert history.tally.undone > 0
        assert examine(history.engine, history.library.path)["findings"] == []
        history.engine.libraries.release(history.library.path)


@pytest.mark.slow
def test_every_action_is_done(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    """The histories would prove little about an action that is always refused: each succeeds here at least once."""
    history, moves = begin(make_engine, tmp_path, 3)
    never = {action.name for family in families() for action in family.actions if action.undoable} - APART
    for _ in range(12):
        work(history, moves, 10)
        with history.library.db.read() as conn:
            raw = raw_of(conn)
            never -= {row[0] for row in raw.execute("SELECT DISTINCT action_name FROM audit")}
        if not never:
            break
    assert not never


def test_random_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(2), 10)


@pytest.mark.parametrize("seed", range(2))
def test_a_whole_history_is_undone_to_an_empty_project(
    make_engine: Callable[..., Engine], tmp_path: Any, seed: int
) -> None:
    engine = make_engine(plugins=families())
    place = tmp_path / "whole.library"
    engine.run(None, "library.create", {"path": str(place)}, LOCAL_OWNER)
    library = engine.libraries.get(place)
    content = Histories(engine, library, []).content
    history = Histories(engine, library, Moves(engine, library).all(), seed=seed)
    history.run(2, steps=50)
    assert history.empty() > 10
    assert history.content == content
    assert examine(engine, place)["findings"] == []


@pytest.mark.soak
@pytest.mark.timeout(0)
def test_ten_thousand_histories_come_back_exactly(make_engine: Callable[..., Engine], tmp_path: Any) -> None:
    prove(make_engine, tmp_path, range(100, 200), 100)
