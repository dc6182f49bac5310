"""Every name a plugin may import from the core; re-exports only."""

from armarium.actions import (
    Action,
    ActionContext,
    Example,
    Outcome,
    Params,
    Route,
    RowLaw,
    RowRule,
    SourceText,
    Step,
    action,
)
from armarium.actions.conducting import Conductor
from armarium.actions.query import query
from armarium.actions.rights import refuse_bound
from armarium.actions.undo import UndoContext
from armarium.auth.secret_files import read_private, write_private
from armarium.engine import Engine
from armarium.errors import (
    BadRequest,
    Broken,
    Conflict,
    FileUnreadable,
    Forbidden,
    Invalid,
    NotAFile,
    NotFound,
    ServiceError,
    TooLarge,
    Unavailable,
    missing,
)
from armarium.file_names import plain_name
from armarium.fonts import (
    BundledFont,
    PictureFont,
    bundled_fonts,
    carried_font,
    font_faces,
    fonts_for,
    is_unusual,
)
from armarium.guard import (
    TAKEN_IMAGES,
    IsClosed,
    OpenedImage,
    PathNotAllowed,
    check_archive,
    image_info,
    image_kind,
    names_are_guessed,
    names_in,
    open_image,
    open_pages,
    open_plain,
    parse_html,
    parse_xml,
    read_member,
)
from armarium.guard.named_paths import MaterialPath, NameOrMaterialPath, PackagePath, RecipePath, ShownPath
from armarium.history.capture import purging, versions
from armarium.history.locks import refuse_locked
from armarium.history.schema import alter_tracked
from armarium.history.visibility import (
    Rights,
    Use,
    WithheldAlong,
    WithheldRows,
    find_withheld,
    refuse_withheld,
    withheld_nodes,
    withheld_pages,
)
from armarium.ids import new_id, now, parse_timestamp, timestamp
from armarium.jobs.activity import record_activity
from armarium.jobs.context import AfterChildren, JobContext, RetryLater
from armarium.jobs.kinds import JobKind
from armarium.jobs.origin import Origin, origin_of
from armarium.jobs.queue import NewJob
from armarium.jobs.queue_view import shown_state
from armarium.jobs.recipe_jobs import (
    PageSkipped,
    PageWithheld,
    PageWork,
    Placement,
    RecipeJob,
    RecipeJobs,
    nothing_done,
    page_kind,
)
from armarium.jobs.start_action import QueuedJob, start_action
from armarium.jobs.undoing import cancel_with_undo
from armarium.messages import Message, Sent, written
from armarium.network.egress import Egress, forget_partial
from armarium.network.limits import Limits
from armarium.plugin import Migration, Plugin
from armarium.plugins.hookspecs import hookimpl
from armarium.principals import Principal, asking
from armarium.projects.libraries import Library, project_setting
from armarium.records.record import Record, record
from armarium.runtimes.commands import run_command
from armarium.settings import Settings
from armarium.store.database import Database, raw_of
from armarium.store.durable import flush, flush_path
from armarium.store.objects import ObjectStore
from armarium.store.rows import HIDDEN, Rows, answer_of, is_among, listed, paged
from armarium.store.swapping import exchange, put_where_nothing_is
from armarium.store.tables import (
    Json,
    Tree,
    Whole,
    append_only,
    derived,
    derived_index,
    foreign_table,
    json_text,
    operational,
    provenance_columns,
    reference,
    rules_of,
    tracked,
)
from armarium.web.http import (
    REFUSALS,
    CurrentEngine,
    CurrentLibrary,
    CurrentOwner,
    CurrentPrincipal,
    OptionalLibrary,
    act,
    json_response,
    takes_upload,
)
from armarium.web.stored_files import STORED_FILE, stored_file

__all__ = [
    "HIDDEN",
    "REFUSALS",
    "STORED_FILE",
    "TAKEN_IMAGES",
    "Action",
    "ActionContext",
    "AfterChildren",
    "BadRequest",
    "Broken",
    "BundledFont",
    "Conductor",
    "Conflict",
    "CurrentEngine",
    "CurrentLibrary",
    "CurrentOwner",
    "CurrentPrincipal",
    "Database",
    "Egress",
    "Engine",
    "Example",
    "FileUnreadable",
    "Forbidden",
    "Invalid",
    "IsClosed",
    "JobContext",
    "JobKind",
    "Json",
    "Library",
    "Limits",
    "MaterialPath",
    "Message",
    "Migration",
    "NameOrMaterialPath",
    "NewJob",
    "NotAFile",
    "NotFound",
    "ObjectStore",
    "OpenedImage",
    "OptionalLibrary",
    "Origin",
    "Outcome",
    "PackagePath",
    "PageSkipped",
    "PageWithheld",
    "PageWork",
    "Params",
    "PathNotAllowed",
    "PictureFont",
    "Placement",
    "Plugin",
    "Principal",
    "QueuedJob",
    "RecipeJob",
    "RecipeJobs",
    "RecipePath",
    "Record",
    "RetryLater",
    "Rights",
    "Route",
    "RowLaw",
    "RowRule",
    "Rows",
    "Sent",
    "ServiceError",
    "Settings",
    "ShownPath",
    "SourceText",
    "Step",
    "TooLarge",
    "Tree",
    "Unavailable",
    "UndoContext",
    "Use",
    "Whole",
    "WithheldAlong",
    "WithheldRows",
    "act",
    "action",
    "alter_tracked",
    "answer_of",
    "append_only",
    "asking",
    "bundled_fonts",
    "cancel_with_undo",
    "carried_font",
    "check_archive",
    "derived",
    "derived_index",
    "exchange",
    "find_withheld",
    "flush",
    "flush_path",
    "font_faces",
    "fonts_for",
    "foreign_table",
    "forget_partial",
    "hookimpl",
    "image_info",
    "image_kind",
    "is_among",
    "is_unusual",
    "json_response",
    "json_text",
    "listed",
    "missing",
    "names_are_guessed",
    "names_in",
    "new_id",
    "nothing_done",
    "now",
    "open_image",
    "open_pages",
    "open_plain",
    "operational",
    "origin_of",
    "page_kind",
    "paged",
    "parse_html",
    "parse_timestamp",
    "parse_xml",
    "plain_name",
    "project_setting",
    "provenance_columns",
    "purging",
    "put_where_nothing_is",
    "query",
    "raw_of",
    "read_member",
    "read_private",
    "record",
    "record_activity",
    "reference",
    "refuse_bound",
    "refuse_locked",
    "refuse_withheld",
    "rules_of",
    "run_command",
    "shown_state",
    "start_action",
    "stored_file",
    "takes_upload",
    "timestamp",
    "tracked",
    "versions",
    "withheld_nodes",
    "withheld_pages",
    "write_private",
    "written",
]
