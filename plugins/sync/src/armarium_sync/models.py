"""The tables of synced folders: ties, known files, pages to be written, conflicts, moves to make."""

from __future__ import annotations

from sqlalchemy import Boolean, Column, Index, Integer, MetaData, Table, Text

from armarium.api import HIDDEN, Json, operational, reference, tracked
from armarium_documents.api import documents
from armarium_source_model.api import passes

metadata = MetaData()

folders = Table(
    "sync_folder",
    metadata,
    Column("id", Text, primary_key=True),
    # A full path on the engine's disk, with links resolved.
    Column("path", Text, nullable=False),
    Column("formats", Json, nullable=False),
    Column("mode", Text, nullable=False),
    Column("intake", Boolean, nullable=False),
    Column("adopted", Boolean, nullable=False),
    # The project folder that came from it; no foreign key: an emptied Trash must not untie the folder.
    Column("root_id", Text, info=HIDDEN),
    Column("created_at", Text, nullable=False),
    info=tracked(label="synced folder"),
)
"""One tie of the project to a folder."""

conflicts = Table(
    "sync_conflict",
    metadata,
    Column("id", Text, primary_key=True),
    reference("folder_id", folders.c.id),
    reference("document_id", documents.c.id),
    # The file's row, since the file may be moved meanwhile. It is in an operational table, so this is not a
    # foreign key.
    Column("file_id", Text, nullable=False, info=HIDDEN),
    reference("pass_id", passes.c.id),
    Column("created_at", Text, nullable=False),
    info=tracked(label="conflict of a synced folder", document="document_id"),
)
"""A page that changed in the project and in the folder: the pass is the folder's version, and the file is no
longer written.
"""

files = Table(
    "sync_file",
    metadata,
    Column("id", Text, primary_key=True),
    Column("folder_id", Text, nullable=False),
    # Relative to the folder, with slashes, as the disk spells it.
    Column("path", Text, nullable=False),
    # layout, loss, picture: the project's; other: somebody else's.
    Column("role", Text, nullable=False),
    Column("document_id", Text, index=True),
    Column("format", Text),
    # SHA-256 of the version that the project knows: written, adopted or taken in.
    Column("digest", Text),
    # SHA-256 of the page as it was written, without its date: shows whether the page has changed since.
    Column("mark", Text),
    # The digest at the last scan, None if the file was gone; and how the disk described it.
    Column("seen", Text),
    Column("stamp", Text),
    # conflict, taken-in, refused, in-the-way, tried, withheld; none: as it was written.
    Column("state", Text),
    Column("why", Text),
    Column("written_at", Text),
    Index("ix_sync_file_path", "folder_id", "path", unique=True),
    Index("ix_sync_file_role", "folder_id", "role", "state"),
    info=operational(),
)
"""What is known of a file in a synced folder. Only files listed here are opened, never a path that a caller sent."""

versions_known = Table(
    "sync_version",
    metadata,
    Column("folder_id", Text, primary_key=True),
    Column("digest", Text, primary_key=True),
    # written, or taken-in.
    Column("kind", Text, nullable=False),
    info=operational(),
)
"""Every version of a file that was written to a folder or taken in from it: if it turns up again, it is not a
new edit.
"""

tied = Table(
    "sync_tied",
    metadata,
    Column("path", Text, primary_key=True),
    Column("folder_id", Text, nullable=False),
    info=operational(),
)
"""The id of each folder that was ever tied: when it is tied again, its files are recognised."""

pending = Table(
    "sync_pending",
    metadata,
    Column("folder_id", Text, primary_key=True),
    Column("document_id", Text, primary_key=True),
    # Milliseconds since 1970 at the page's last change; 0: at once.
    Column("changed_at", Integer, nullable=False),
    info=operational(),
)
"""Pages that changed since their files were written."""

moves = Table(
    "sync_move",
    metadata,
    Column("id", Text, primary_key=True),
    Column("audit_id", Text, nullable=False, index=True),
    Column("folder_id", Text, nullable=False),
    Column("document_id", Text),
    Column("from_path", Text, nullable=False),
    Column("to_path", Text, nullable=False),
    # due, done, or left with the reason. SHA-256 of the file that is meant: another one in its place is not
    # moved.
    Column("digest", Text),
    Column("state", Text, nullable=False),
    Column("why", Text),
    Index("ix_sync_move_due", "folder_id", "state"),
    info=operational(),
)
"""The journal of moved files: what an arrangement or its undo still has to do on disk, and what it has done."""
