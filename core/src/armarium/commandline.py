"""Every name a plugin's commands may import from the command line; re-exports only.

A plugin names its commands (`Commands`, or a function that builds a `typer.Typer`) under the entry-point group
`armarium.commands`. That module is imported without the engine, so it should import nothing but this and typer: commands ask
the engine for everything over HTTP.
"""

from armarium.cli.browsing import NoBrowser as NoBrowser
from armarium.cli.browsing import has_desktop as has_desktop
from armarium.cli.browsing import served_engine as served_engine
from armarium.cli.browsing import show_link as show_link
from armarium.cli.browsing import sign_in_link as sign_in_link
from armarium.cli.declared import BY_ID as BY_ID
from armarium.cli.declared import BY_PATH as BY_PATH
from armarium.cli.declared import Commands as Commands
from armarium.cli.declared import in_words as in_words
from armarium.cli.names import complete_word as complete_word
from armarium.cli.options import Finder as Finder
from armarium.cli.options import Topic as Topic
from armarium.cli.output import answer as answer
from armarium.cli.output import legible as legible
from armarium.cli.output import progress as progress
from armarium.cli.output import table as table
from armarium.cli.output import wants_json as wants_json
from armarium.cli.program import engine_session as engine_session
from armarium.cli.program import full_path as full_path
from armarium.cli.program import plural as plural
from armarium.cli.program import project_meant as project_meant
from armarium.cli.program import project_session as project_session
from armarium.cli.program import work_session as work_session
from armarium.cli.refusals import Refused as Refused
from armarium.cli.serve import serve_for_people as serve_for_people
from armarium.cli.session import ID as ID
from armarium.cli.session import Session as Session
from armarium.cli.session import id_of as id_of
from armarium.cli.session import own_engine as own_engine
from armarium.cli.user_settings import settings_of_this_user as settings_of_this_user
from armarium.cli.work import carry_out as carry_out
from armarium.cli.work import file_name as file_name
from armarium.cli.work import find_begun as find_begun
from armarium.cli.work import find_named as find_named
from armarium.cli.work import follow_job as follow_job
from armarium.cli.work import name_each as name_each
from armarium.cli.work import place_for as place_for
from armarium.cli.work import result_of as result_of
from armarium.cli.work import write_file as write_file
from armarium.engine_card import Reachable as Reachable
from armarium.ids import is_id as is_id
