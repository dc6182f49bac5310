"""Every name a plugin's commands may import from the command line; re-exports only.

A plugin names its commands (`Commands`, or a function that builds a `typer.Typer`) under the entry-point group
`armarium.commands`. That module is imported without the engine, so it should import nothing but this and typer: commands ask
the engine for everything over HTTP.
"""

from armarium.client import Reachable as Reachable
from armarium.client import is_id as is_id
from armarium_cli.browsing import NoBrowser as NoBrowser
from armarium_cli.browsing import has_desktop as has_desktop
from armarium_cli.browsing import served_engine as served_engine
from armarium_cli.browsing import show_link as show_link
from armarium_cli.browsing import sign_in_link as sign_in_link
from armarium_cli.declared import BY_ID as BY_ID
from armarium_cli.declared import BY_PATH as BY_PATH
from armarium_cli.declared import Commands as Commands
from armarium_cli.declared import in_words as in_words
from armarium_cli.names import complete_word as complete_word
from armarium_cli.options import Finder as Finder
from armarium_cli.options import Topic as Topic
from armarium_cli.output import answer as answer
from armarium_cli.output import legible as legible
from armarium_cli.output import progress as progress
from armarium_cli.output import table as table
from armarium_cli.output import wants_json as wants_json
from armarium_cli.program import engine_session as engine_session
from armarium_cli.program import full_path as full_path
from armarium_cli.program import percent as percent
from armarium_cli.program import plural as plural
from armarium_cli.program import project_meant as project_meant
from armarium_cli.program import project_session as project_session
from armarium_cli.program import work_session as work_session
from armarium_cli.refusals import Refused as Refused
from armarium_cli.serve import serve_for_people as serve_for_people
from armarium_cli.session import ID as ID
from armarium_cli.session import Session as Session
from armarium_cli.session import id_of as id_of
from armarium_cli.session import own_engine as own_engine
from armarium_cli.user_settings import settings_of_this_user as settings_of_this_user
from armarium_cli.work import carry_out as carry_out
from armarium_cli.work import file_name as file_name
from armarium_cli.work import find_begun as find_begun
from armarium_cli.work import find_named as find_named
from armarium_cli.work import follow_job as follow_job
from armarium_cli.work import name_each as name_each
from armarium_cli.work import place_for as place_for
from armarium_cli.work import result_of as result_of
from armarium_cli.work import write_file as write_file
