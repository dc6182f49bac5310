"""Every name a plugin's commands may import from the command line; re-exports only.

A plugin names its commands (`Commands`, or a function that builds a `typer.Typer`) under the entry-point group
`armarium.commands`. That module is imported without the engine, so it should import nothing but this and typer: commands ask
the engine for everything over HTTP.
"""

from armarium.cli.browsing import NoBrowser, has_desktop, served_engine, show_link, sign_in_link
from armarium.cli.declared import BY_ID, BY_PATH, Commands, in_words
from armarium.cli.names import complete_word
from armarium.cli.options import Finder, Topic
from armarium.cli.output import answer, legible, progress, table, wants_json
from armarium.cli.program import (
    engine_session,
    full_path,
    plural,
    project_meant,
    project_session,
    work_session,
)
from armarium.cli.refusals import Refused
from armarium.cli.serve import serve_for_people
from armarium.cli.session import ID, Session, id_of, own_engine
from armarium.cli.user_settings import settings_of_this_user
from armarium.cli.work import (
    carry_out,
    file_name,
    find_begun,
    find_named,
    follow_job,
    name_each,
    place_for,
    result_of,
    write_file,
)
from armarium.engine_card import Reachable
from armarium.ids import is_id

__all__ = [
    "BY_ID",
    "BY_PATH",
    "ID",
    "Commands",
    "Finder",
    "NoBrowser",
    "Reachable",
    "Refused",
    "Session",
    "Topic",
    "answer",
    "carry_out",
    "complete_word",
    "engine_session",
    "file_name",
    "find_begun",
    "find_named",
    "follow_job",
    "full_path",
    "has_desktop",
    "id_of",
    "in_words",
    "is_id",
    "legible",
    "name_each",
    "own_engine",
    "place_for",
    "plural",
    "progress",
    "project_meant",
    "project_session",
    "result_of",
    "serve_for_people",
    "served_engine",
    "settings_of_this_user",
    "show_link",
    "sign_in_link",
    "table",
    "wants_json",
    "work_session",
    "write_file",
]
