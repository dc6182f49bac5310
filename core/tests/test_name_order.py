"""The one order of names: what its keys are, and the indexes that hold them."""

from __future__ import annotations

import sqlite3
from contextlib import closing

from armarium.engine import Engine
from armarium.names.order import KEY_VERSION, name_key
from armarium.principals import LOCAL_OWNER
from armarium.projects import doctor
from armarium.projects.libraries import Library
from armarium.projects.packages import DATABASE
from armarium.store.database import raw_of
from armarium.store.name_order import NAME_KEY

IN_ORDER = """
9, 10, AVILA, avila, Ávila, ávila, Box 7, box 007, box_12, Ñandú, straße, Strasse 2, Zamora
""".strip().split(", ")


def test_names_are_in_order_without_case_and_accents_and_numbers_by_value() -> None:
    assert sorted(set(IN_ORDER), key=name_key) == IN_ORDER


def test_whoever_changes_the_keys_of_names_raises_their_version() -> None:
    # Indexes hold these keys: they are made anew only where the version is another.
    assert KEY_VERSION == 1
    assert [name_key(name) for name in ("Ávila, Nº 007", "Ⅻ œuvre-٤٢", "中文")] == [
        "avila no 0\x027\0Ávila, Nº 007",
        "xii oeuvre 0\x0342\0Ⅻ œuvre-٤٢",
        "中 文\0中文",
    ]


def test_an_index_of_names_made_by_another_version_is_made_anew_at_opening(
    run, shelf_engine: Engine, shelf_library: Library
) -> None:
    shelf = run("shelf.create", name="A").result["id"]
    for title in ("Zamora", "b 10", "Ávila", "b 9"):
        run("shelf.add", shelf_id=shelf, title=title)
    path = shelf_library.path
    shelf_engine.libraries.release(path)
    with closing(sqlite3.connect(path / DATABASE)) as other:
        other.create_function("name_key_0_9_0_0", 1, lambda title: title[::-1], deterministic=True)
        other.execute("CREATE INDEX ix_titles ON shelf_book (name_key_0_9_0_0(title))")
        other.execute("CREATE TABLE other (name_key_1 TEXT)")
        other.execute("CREATE INDEX ix_other ON other (name_key_1)")
    library = shelf_engine.libraries.get(path)
    with library.db.read() as conn:
        listed = (
            raw_of(conn)
            .execute(f"SELECT title FROM shelf_book INDEXED BY ix_titles ORDER BY {NAME_KEY}(title)")
            .fetchall()
        )
    assert [title for (title,) in listed] == ["Ávila", "b 9", "b 10", "Zamora"]
    assert doctor.examine(shelf_engine, path)["findings"] == []
    shelf_engine.run(library, "shelf.add", {"shelf_id": shelf, "title": "c"}, LOCAL_OWNER)
    with closing(sqlite3.connect(path / DATABASE)) as plain:
        # Whoever reads the file without the engine needs no function.
        assert plain.execute("SELECT count(*) FROM shelf_book WHERE title > ''").fetchone() == (5,)
