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
from armarium.activity import record_activity
from armarium.db import raw_of
from armarium.egress import Egress, Limits
from armarium.engine import Engine
from armarium.errors import (
    BadRequest,
    Broken,
    Conflict,
    Forbidden,
    Invalid,
    NotFound,
    ServiceError,
    TooLarge,
    Unavailable,
    missing,
)
from armarium.fonts import PictureFont
from armarium.guard import (
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
from armarium.history import (
    purging,
    versions,
)
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
from armarium.ids import (
    new_id,
    now,
)
from armarium.jobs.context import (
    JobContext,
    RetryLater,
)
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
    "Conductor",
    "Conflict",
    "CurrentEngine",
    "CurrentLibrary",
    "CurrentPrincipal",
    "Egress",
    "Engine",
    "Example",
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
    "RetryLater",
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
    "act",
    "action",
    "alter_tracked",
    "among",
    "answer_of",
    "append_only",
    "cancel_with_undo",
    "check_archive",
    "derived",
    "derived_index",
    "foreign_table",
    "hookimpl",
    "image_info",
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
    "parse_xml",
    "project_setting",
    "provenance_columns",
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
