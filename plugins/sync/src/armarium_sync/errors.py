"""The refusals of synced folders, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Invalid, NotFound, ServiceError, missing

no_folder = missing(
    "synced folder", "List the synced folders to find the right id.", code="unknown_sync_folder"
)


nothing_there = NotFound.saying(
    "path_not_found", "There is nothing at {path}. Create the folder, or check the path.", path="path"
)
not_a_folder = Invalid.saying("not_a_folder", "{path} is a file. Name a folder.")
not_writable = Invalid.saying(
    "not_writable", "The engine cannot write to {path}: {why}. Give it permission, or name another folder."
)
holds_the_project = Invalid.saying(
    "holds_project", "{path} contains this project or the engine's own files. Name a folder next to them."
)
tied_already = Conflict.saying(
    "already_tied",
    "{path} and the synced folder {other} share files. Untie that one first, or name a folder next to it.",
    other="other",
)
no_formats = Invalid.saying(
    "no_formats",
    "formats is empty, so nothing would be written. Name pagexml, alto or tei, or choose the mode "
    "keep-arranged.",
)
came_from_nowhere = Invalid.saying(
    "no_project_folder",
    "No folder of this project came from {path}, so there is nothing to arrange it by. Import the folder "
    "first, then tie it.",
)
folder_gone = Conflict.saying(
    "folder_gone",
    "The folder {path} is missing, or there is an empty one in its place. Mount it or put it back; nothing "
    "is lost.",
)


def not_duplicates(ids: Iterable[str], kept_ids: Iterable[str]) -> Conflict:
    """409: some of the documents are to be kept, or are no longer duplicates."""
    missing, staying = sorted(ids), sorted(kept_ids)
    parts = []
    if staying:
        parts.append(f"{', '.join(staying)} would be kept")
    if missing:
        parts.append(f"{', '.join(missing)} is not a duplicate (any more)")
    return Conflict(
        f"Nothing was removed: {'; '.join(parts)}. List the duplicates again, and name only those under remove.",
        code="not_a_duplicate",
        document_ids=missing,
        kept=staying,
    )


not_to_take_in = Conflict.saying("not_read_back", "{path} is not read back: {why}", path="path")
unknown_file = NotFound.saying(
    "unknown_sync_file",
    "No file of a synced folder has the id {file_id}. Such ids come from the engine's own scan of the "
    "folder.",
)
stale_arrangement = Conflict.saying(
    "stale_arrangement", "{path} is no longer to be moved that way. Get the arrangement again."
)
not_arranged = Conflict.saying(
    "not_arranged",
    "{path} is in the mode index: its files stay where they are. Set the mode keep-arranged first.",
)
not_moved = Conflict.saying("not_moved", "{path} was not moved by hand; there is nothing to follow.")


def disk_refuses(path: str, error: OSError) -> ServiceError:
    """A write that fails for lack of space or permission."""
    return Conflict(
        f"{path} cannot be written: {error.strerror or error}. Make room or give the engine permission; it "
        "will be tried again.",
        code="disk_refuses",
    )
