"""Statements move to another project with their pages; hands and signs are copied along, or matched by name."""

from __future__ import annotations

from pathlib import Path

from paleography_project import PaleographyProject

from armarium.api import raw_of
from armarium.principals import LOCAL_OWNER


def test_hands_and_signs_are_matched_by_name_or_made(project: PaleographyProject, tmp_path: Path) -> None:
    engine = project.engine
    engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = engine.libraries.get(tmp_path / "To.library")
    page, stays = project.page(["erat uerbum"]), project.page()
    line = page.lines[0]
    for label in ("Known", "New"):
        project.post("/hands/attributions", {"hand_id": project.hand(label), "segment_id": line})
    # The picture of this sign stays behind; the sign is copied with its name only.
    sign = project.post(
        "/signs", {"name": "et", "picture_segment_id": stays.lines[0], "code_point": "U+204A"}
    )["id"]
    project.post(f"/signs/{sign}/instances", {"segment_id": line})
    project.post("/editorial", {"segment_id": line, "kind": "unclear", "char_start": 0, "char_end": 4})
    campaign = project.post("/campaigns", {"document_id": page.id, "name": "A"})["id"]
    project.send("PUT", f"/campaigns/segment/{line}", {"campaign_id": campaign})
    ((reading,),) = project.rows("SELECT id FROM content_representation")
    project.send("PUT", f"/campaigns/reading/{reading}", {"campaign_ids": [campaign]})
    form = project.post("/letterforms/allographs", {"character": "e", "name": "round e"})["id"]
    described = {"character": "e", "allograph_id": form, "hand_id": project.hand("Named by a letter")}
    project.send("PUT", f"/letterforms/segment/{line}", described)
    known = engine.run(target, "hand.create", {"label": "Known"}, LOCAL_OWNER).result or {}

    params = {"source_library": str(project.library.path), "items": [page.id], "mode": "copy"}
    moved = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    with target.db.read() as conn:
        raw = raw_of(conn)
        hands = dict(raw.execute("SELECT label, id FROM hand"))
        assert hands["Known"] == known["id"]
        assert set(hands) == {"Known", "New", "Named by a letter"}
        attributed = {row[0] for row in raw.execute("SELECT hand_id FROM hand_attribution")}
        assert attributed == {hands["Known"], hands["New"]}
        assert raw.execute("SELECT name, picture_segment_id FROM sign").fetchall() == [("et", None)]
        for table in (
            "sign_instance",
            "editorial_fact",
            "campaign",
            "campaign_member",
            "campaign_reading",
            "letterform",
        ):
            assert raw.execute(f"SELECT count(*) FROM {table}").fetchone() == (1,), table
        ((kind, words),) = raw.execute(
            "SELECT f.kind, substr(r.content, f.char_start + 1, f.char_end - f.char_start) FROM editorial_fact f"
            " JOIN content_representation r ON r.id = f.representation_id"
        )
        assert (kind, words) == ("unclear", "erat")
        # An optional hand of a letterform is copied along too, and matched by the second transfer.
        ((hand_id, name),) = raw.execute(
            "SELECT l.hand_id, a.name FROM letterform l JOIN letterform_allograph a ON a.id = l.allograph_id"
        )
        assert (hand_id, name) == (hands["Named by a letter"], "round e")

    second_outcome = engine.run(target, "document.transfer", params, LOCAL_OWNER)
    with target.db.read() as conn:
        raw = raw_of(conn)
        assert raw.execute("SELECT count(*) FROM hand").fetchone() == (3,)
        assert raw.execute("SELECT count(*) FROM letterform_allograph").fetchone() == (1,)
        assert raw.execute("SELECT count(*), count(DISTINCT sign_id) FROM sign_instance").fetchone() == (2, 1)
    engine.undo(target, [second_outcome.audit_id], LOCAL_OWNER)
    engine.undo(target, [moved.audit_id], LOCAL_OWNER)
    with target.db.read() as conn:
        raw = raw_of(conn)
        live = "SELECT count(*) FROM hand_attribution a JOIN document d ON d.id = a.document_id AND d.deleted_at IS NULL"
        assert raw.execute(live).fetchone() == (0,)
        assert raw.execute("SELECT withdrawn_at FROM hand WHERE id = ?", (known["id"],)).fetchone() == (None,)


def test_two_hands_with_the_same_label_are_not_merged(project: PaleographyProject, tmp_path: Path) -> None:
    """The first is matched with the other project's hand; a line attributed to each by a palaeographer keeps
    both attributions.
    """
    engine = project.engine
    engine.run(None, "library.create", {"path": str(tmp_path / "To.library")}, LOCAL_OWNER)
    target = engine.libraries.get(tmp_path / "To.library")
    known = (engine.run(target, "hand.create", {"label": "A"}, LOCAL_OWNER).result or {})["id"]
    page = project.page()
    for notes in ("the main scribe", "the rubricator"):
        answer = project.post("/hands", {"label": "A", "notes": notes})["id"]
        project.post("/hands/attributions", {"hand_id": answer, "segment_id": page.lines[0]})
    params = {"source_library": str(project.library.path), "items": [page.id], "mode": "copy"}
    for copies in (1, 2):
        engine.run(target, "document.transfer", params, LOCAL_OWNER)
        with target.db.read() as conn:
            raw = raw_of(conn)
            hands = dict(raw.execute("SELECT coalesce(notes, ''), id FROM hand"))
            assert hands.keys() == {"", "the rubricator"}
            assert hands[""] == known
            counts = dict(raw.execute("SELECT hand_id, count(*) FROM hand_attribution GROUP BY 1"))
            assert counts == dict.fromkeys(hands.values(), copies)
