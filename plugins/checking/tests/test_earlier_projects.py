"""A project that 0.2.0 made has none of the tables of samples, rejections and places of letters; it gets them when it is opened."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from checking_project import CheckingProject

from armarium.principals import LOCAL_OWNER

LACKED = ("quality_line", "quality_page", "quality_sample", "check_rejection", "segment_letter_places")


def _parts(conn: sqlite3.Connection) -> dict[str, str]:
    return dict(conn.execute("SELECT name, type FROM sqlite_master WHERE name NOT LIKE 'sqlite_%'"))


def test_a_project_made_by_an_earlier_release_gets_the_tables_and_works(project: CheckingProject) -> None:
    page, pass_id, lines = project.page([0.5] * 3)
    project.read(page, pass_id, lines, ["one", "two", "three"], "one")
    place = project.library.path
    project.engine.libraries.release(place)
    with closing(sqlite3.connect(place / "library.sqlite")) as conn:
        made = _parts(conn)
        conn.execute("PRAGMA foreign_keys = OFF")
        for name, kind in made.items():
            # Of a past step is asked since then too, by these indexes.
            if kind == "index" and name.endswith("__history_document"):
                conn.execute(f'DROP INDEX "{name}"')
        for name in LACKED:
            conn.execute(f"DROP TABLE {name}")
            conn.execute(f"DROP TABLE {name}__history")
        conn.commit()
        assert len(_parts(conn)) < len(made) - 30
    library = project.engine.libraries.get(place)
    with closing(sqlite3.connect(place / "library.sqlite")) as conn:
        assert _parts(conn) == made
    drawn = project.engine.run(library, "quality.sample", {"lines": 10}, LOCAL_OWNER)
    assert (drawn.result or {})["population"] == 3
    project.engine.undo(library, [drawn.audit_id], LOCAL_OWNER)
    assert project.engine.verify_audit(library) is None
