"""A branch that an older version of the engine made is migrated when it is opened, and merged as any other."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from sqlalchemy import MetaData, Table

from armarium.api import Engine, raw_of
from armarium.principals import LOCAL_OWNER
from armarium.projects.doctor import examine
from armarium_agents.plugin import armarium_plugin as agents
from armarium_documents.plugin import armarium_plugin as documents
from armarium_source_model.models import metadata
from armarium_source_model.plugin import armarium_plugin as source_model


def test_a_branch_of_an_older_engine_is_migrated_and_merged(
    make_engine: Callable[..., Engine], tmp_path: Path
) -> None:
    """Its tables lack a column; the project comes to the newer engine first, and the branch when it is looked through."""
    before = MetaData()
    for table in metadata.sorted_tables:
        if table.name != "segment":
            table.to_metadata(before)
        else:
            old = [column._copy() for column in table.columns if column.name != "joined_or_split_in"]
            Table(table.name, before, *old, info=table.info)
    earlier = replace(source_model(), version=2, migrations=source_model().migrations[:1], metadata=before)
    first = make_engine(plugins=[documents(), earlier, agents()], state="first")
    path = tmp_path / "Past.library"
    first.run(None, "library.create", {"path": str(path)}, LOCAL_OWNER)
    result = (
        first.run(first.libraries.get(path), "branches.create", {"name": "Old"}, LOCAL_OWNER).result or {}
    )
    branch = first.libraries.open_only(result["library_path"])
    first.run(branch, "document.create", {"name": "Found", "doc_type": "page"}, LOCAL_OWNER)
    for place in (result["library_path"], path):
        first.libraries.release(Path(place))
    engine = make_engine(plugins=[documents(), source_model(), agents()], state="second")
    project = engine.libraries.get(path)
    engine.run(project, "branches.merge", {"branch_id": result["id"]}, LOCAL_OWNER)
    with project.db.read() as conn:
        names = {row[0] for row in raw_of(conn).execute("SELECT name FROM document")}
    assert "Found" in names
    assert examine(engine, Path(result["library_path"]))["findings"] == []
    with engine.libraries.open_only(result["library_path"]).db.read() as conn:
        columns = {row[1] for row in raw_of(conn).execute("PRAGMA table_info(segment)")}
    assert "joined_or_split_in" in columns
