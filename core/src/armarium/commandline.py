"""Every name a plugin's commands may import from the command line; re-exports only.

A plugin names a function that builds its commands (a `typer.Typer`) under the entry-point group `armarium.commands`.
The module it stands in is imported without the engine, so it should import nothing but this and typer: what a command
does, it asks the engine for over HTTP.
"""

from armarium.cli.documents import document_id
from armarium.cli.names import document_names
from armarium.cli.options import Topic
from armarium.cli.output import answer, legible, progress, table, wants_json
from armarium.cli.program import (
    documents_under,
    engine_session,
    full_path,
    is_page,
    pages_of,
    plural,
    project_session,
    work_session,
)
from armarium.cli.refusals import Refused
from armarium.cli.session import ID, Session, id_of
from armarium.cli.work import (
    Scope,
    file_name,
    finished,
    name_each,
    place_for,
    result_of,
    scope_of,
    write_exports,
    write_file,
)
from armarium.ids import is_id

__all__ = [
    "ID",
    "Refused",
    "Scope",
    "Session",
    "Topic",
    "answer",
    "document_id",
    "document_names",
    "documents_under",
    "engine_session",
    "file_name",
    "finished",
    "full_path",
    "id_of",
    "is_id",
    "is_page",
    "legible",
    "name_each",
    "pages_of",
    "place_for",
    "plural",
    "progress",
    "project_session",
    "result_of",
    "scope_of",
    "table",
    "wants_json",
    "work_session",
    "write_exports",
    "write_file",
]
