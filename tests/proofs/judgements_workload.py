"""Judgements of palaeographers, stated error rates, decided proposals and control points of maps as a workload for the fault tests: each step is whole, and no
acknowledged one is lost.
"""

from __future__ import annotations

from importlib import import_module
from pathlib import Path
from typing import Any

from armarium.engine import Engine
from armarium.plugin import Plugin
from armarium.principals import LOCAL_OWNER
from armarium.projects.libraries import Library
from armarium_testing.faults import Say, Workload

ROUNDS = 3
PLACES = ((2.0, 49.0), (3.0, 49.0), (3.0, 48.5), (2.0, 48.5))


def _run(engine: Engine, library: Library, name: str, params: dict[str, Any]) -> dict[str, Any]:
    return engine.run(library, name, params, LOCAL_OWNER).result or {}


def _prepare(engine: Engine, library: Library, folder: Path) -> None:
    page = _run(engine, library, "document.create", {"name": "Page", "doc_type": "page"})["id"]
    pass_id = _run(engine, library, "segment.pass_create", {"document_id": page, "name": "Lines"})["id"]
    lines = [
        {
            "document_id": page,
            "pass_id": pass_id,
            "kind": "line",
            "anchor": {"rect": [0.1, 0.04 * n, 0.8, 0.03]},
        }
        for n in range(1, 2 * ROUNDS + 1)
    ]
    for line in _run(engine, library, "segment.create_many", {"segments": lines})["items"]:
        _run(engine, library, "representation.create", {"segment_id": line["id"], "text": "erat uerbum"})
    _run(engine, library, "hand.create", {"label": "A"})
    _run(engine, library, "campaign.create", {"document_id": page, "name": "Text"})


def _work(engine: Engine, library: Library, folder: Path, say: Say) -> None:
    with library.db.read() as conn:
        lines = conn.exec_driver_sql("SELECT id FROM segment ORDER BY bbox_y").scalars().all()
        pass_id = conn.exec_driver_sql("SELECT id FROM segment_pass").scalar_one()
        hand = conn.exec_driver_sql("SELECT id FROM hand").scalar_one()
        campaign = conn.exec_driver_sql("SELECT id FROM campaign").scalar_one()

    def run(name: str, params: dict[str, Any]) -> dict[str, Any]:
        found = _run(engine, library, name, params)
        say(name)
        return found

    for number in range(ROUNDS):
        one, two = lines[2 * number : 2 * number + 2]
        for line in (one, two):
            run("hand.attribute", {"hand_id": hand, "segment_id": line})
            run("campaign.assign", {"segment_id": line, "campaign_id": campaign})
            run("editorial.create", {"segment_id": line, "kind": "unclear", "char_start": 0, "char_end": 4})
        text = "erat uerbum"
        with library.db.read() as conn:
            asked = "SELECT segment_id, id FROM content_representation WHERE segment_id IN (?, ?) ORDER BY segment_id"
            rows = conn.exec_driver_sql(asked, (one, two)).all()
        items = [
            {"segment_id": line, "reading_id": reading, "char_start": 5, "char_end": 11, "read": text[5:], "proposed": "verbum"}
            for line, reading in rows
        ]  # fmt: skip
        run("proposal.decide", {"accepted": items[:1], "rejected": items[1:]})
        sample = run("quality.sample", {"lines": 10, "seed": number})["id"]
        with library.db.read() as conn:
            drawn = conn.exec_driver_sql(
                "SELECT id FROM quality_line WHERE sample_id = ?", (sample,)
            ).scalars()
            first, *_ = drawn.all()
        run("quality.answer", {"line_id": first, "text": text})
        if number % 3 == 1:
            run("quality.remove", {"sample_id": sample})
        sign = run("sign.create", {"name": f"sign {number}", "picture_segment_id": one})["id"]
        run("sign.add_instance", {"sign_id": sign, "segment_id": two})
        run("letterform.set", {"segment_id": two, "character": "e"})
        place = dict(zip(("lon", "lat"), PLACES[number % 4], strict=True))
        at = {"x": 0.1 + 0.1 * number, "y": 0.9 if number % 2 else 0.1}
        point = run("georeference.point_create", {"pass_id": pass_id, **at, **place})["id"]
        run("georeference.point_update", {"point_id": point, "lon": place["lon"] + 0.1, "lat": place["lat"]})
        if number % 3 == 2:
            run("georeference.point_delete", {"point_id": point})
        merged = engine.run(
            library, "segment.merge", {"segment_ids": [one, two], "keep_id": one}, LOCAL_OWNER
        )
        say("segment.merge")
        if number % 2:
            engine.undo(library, [merged.audit_id], LOCAL_OWNER)
            say("segment.merge undone")


SOUND = {
    "a judgement hangs on a line that was merged away":
        "SELECT count(*) FROM hand_attribution a JOIN segment s ON s.id = a.segment_id"
        " WHERE a.withdrawn_at IS NULL AND s.deleted_at IS NOT NULL",
    "a line belongs to two campaigns":
        "SELECT count(*) FROM (SELECT 1 FROM campaign_member WHERE superseded_at IS NULL GROUP BY segment_id HAVING count(*) > 1)",
    "a line is described twice":
        "SELECT count(*) FROM (SELECT 1 FROM letterform WHERE withdrawn_at IS NULL GROUP BY segment_id HAVING count(*) > 1)",
    "a fact names characters that its reading does not have":
        "SELECT count(*) FROM editorial_fact f JOIN content_representation r ON r.id = f.representation_id"
        " WHERE f.char_end > length(r.content)",
    "a sample has other lines or pages than it says":
        "SELECT count(*) FROM quality_sample s WHERE s.lines <> (SELECT count(*) FROM quality_line WHERE sample_id = s.id)"
        " OR NOT EXISTS (SELECT 1 FROM quality_page WHERE sample_id = s.id)",
    "a proposal was rejected without the one beside it being accepted":
        "SELECT (SELECT count(*) FROM check_rejection) <> (SELECT count(*) FROM content_representation WHERE content = 'erat verbum')",
    "a control point is without its link or its mark":
        "SELECT count(*) FROM georeference_control_point p JOIN link l ON l.id = p.link_id JOIN segment s ON s.id = p.segment_id"
        " WHERE l.deleted_at IS NOT NULL OR s.deleted_at IS NOT NULL",
    "a link, a mark or a place is left without its control point":
        "SELECT (SELECT count(*) FROM link WHERE link_type = 'controls' AND deleted_at IS NULL)"
        " + (SELECT count(*) FROM segment WHERE kind_raw = 'control-point' AND deleted_at IS NULL)"
        " - 2 * (SELECT count(*) FROM georeference_control_point)",
}  # fmt: skip


def _check(engine: Engine, library: Library, folder: Path, said: list[str]) -> list[str]:
    with library.db.read() as conn:
        wrong = [what for what, count in SOUND.items() if conn.exec_driver_sql(count).scalar_one()]
        for name in {word for word in said if "." in word and " " not in word}:
            statement = "SELECT count(*) FROM audit WHERE action_name = ? AND inverse_of IS NULL"
            done = conn.exec_driver_sql(statement, (name,)).scalar_one()
            if done < said.count(name):
                wrong.append(f"{said.count(name) - done} acknowledged steps {name} are lost")
    return wrong


def _plugins() -> list[Plugin]:
    families = ("documents", "source_model", "reading", "checking", "paleography", "georeference")
    return [import_module(f"armarium_{name}.plugin").armarium_plugin() for name in families]


JUDGING = Workload(plugins=_plugins, prepare=_prepare, work=_work, check=_check)
