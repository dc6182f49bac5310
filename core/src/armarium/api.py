"""Every name a plugin may import from the core; re-exports only."""

from armarium.actions import (
    Action,
    ActionContext,
    Example,
    NoParams,
    Outcome,
    Params,
    Route,
    RowLaw,
    RowRule,
    SourceText,
    Step,
    action,
    invalid_request,
)
from armarium.actions.conducting import Conductor
from armarium.activity import record_activity
from armarium.db import Database, bulk_insert, raw_of
from armarium.egress import Egress, Limits
from armarium.engine import Engine
from armarium.errors import (
    BadRequest,
    Broken,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    RateLimited,
    ServiceError,
    TooLarge,
    Unauthorized,
    Unavailable,
    missing,
)
from armarium.events import ChangeStream
from armarium.fonts import PictureFont
from armarium.guard import (
    ImageInfo,
    IsClosed,
    PathNotAllowed,
    check_archive,
    image_info,
    names_in,
    open_image,
    open_plain,
    parse_html,
    parse_xml,
    read_member,
)
from armarium.history import purge, purging, versions
from armarium.hookspecs import hookimpl
from armarium.http import (
    REFUSALS,
    CurrentEngine,
    CurrentLibrary,
    CurrentPrincipal,
    OptionalLibrary,
    act,
    json_response,
    takes_upload,
)
from armarium.ids import is_id, new_id, now, parse_timestamp
from armarium.jobs.context import JobContext, JobStopped, RetryLater
from armarium.jobs.kinds import JobKind
from armarium.jobs.queue import NewJob
from armarium.jobs.undoing import cancel_with_undo
from armarium.libraries import Library, project_setting
from armarium.locks import refuse_locked
from armarium.messages import Message, Sent, written
from armarium.named_paths import MaterialPath, NameOrMaterialPath, PackagePath, ShownPath
from armarium.objects import ObjectStore
from armarium.plugins import Migration, Plugin
from armarium.principals import Principal
from armarium.query import query
from armarium.rows import HIDDEN, Rows, among, answer_of, paged
from armarium.runtimes import Runtime
from armarium.schema import alter_tracked
from armarium.settings import Settings
from armarium.stored_files import STORED_FILE, stored_file
from armarium.tables import (
    Json,
    Tree,
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
from armarium.undo import UndoContext

__all__ = [
    "HIDDEN",
    "REFUSALS",
    "STORED_FILE",
    "Action",
    "ActionContext",
    "BadRequest",
    "Broken",
    "ChangeStream",
    "Conductor",
    "Conflict",
    "CurrentEngine",
    "CurrentLibrary",
    "CurrentPrincipal",
    "Database",
    "Egress",
    "Engine",
    "Example",
    "Forbidden",
    "ImageInfo",
    "Invalid",
    "IsClosed",
    "JobContext",
    "JobKind",
    "JobStopped",
    "Json",
    "Library",
    "Limits",
    "MaterialPath",
    "Message",
    "Migration",
    "NameOrMaterialPath",
    "NewJob",
    "NoParams",
    "NotFound",
    "ObjectStore",
    "OptionalLibrary",
    "Outcome",
    "PackagePath",
    "Params",
    "PathNotAllowed",
    "PictureFont",
    "Plugin",
    "Principal",
    "RateLimited",
    "RetryLater",
    "Route",
    "RowLaw",
    "RowRule",
    "Rows",
    "Runtime",
    "Sent",
    "ServiceError",
    "Settings",
    "ShownPath",
    "SourceText",
    "Step",
    "TooLarge",
    "Tree",
    "Unauthorized",
    "Unavailable",
    "UndoContext",
    "act",
    "action",
    "alter_tracked",
    "among",
    "answer_of",
    "append_only",
    "bulk_insert",
    "cancel_with_undo",
    "check_archive",
    "derived",
    "derived_index",
    "foreign_table",
    "hookimpl",
    "image_info",
    "invalid_request",
    "is_id",
    "json_response",
    "json_text",
    "missing",
    "names_in",
    "new_id",
    "now",
    "open_image",
    "open_plain",
    "operational",
    "paged",
    "parse_html",
    "parse_timestamp",
    "parse_xml",
    "project_setting",
    "provenance_columns",
    "purge",
    "purging",
    "query",
    "raw_of",
    "read_member",
    "record_activity",
    "reference",
    "refuse_locked",
    "rules_of",
    "stored_file",
    "takes_upload",
    "tracked",
    "versions",
    "written",
]
