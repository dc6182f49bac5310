"""The refusals of synced folders, each a sentence a person can act on."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Invalid, NotFound, ServiceError, missing

no_folder = missing(
    "synced folder", "List the synced folders to find the right id.", code="unknown_sync_folder"
)


def nothing_there(path: str) -> NotFound:
    """404: neither the folder nor the one above it is there."""
    return NotFound(
        f"There is nothing at {path}. Make the folder, or check the path.", code="path_not_found", path=path
    )


def not_a_folder(path: str) -> Invalid:
    """422: a file was named."""
    return Invalid(f"{path} is a file. Name a folder.", code="not_a_folder")


def not_writable(path: str, why: str) -> Invalid:
    """422: the engine may not write there."""
    return Invalid(
        f"The engine cannot write to {path}: {why}. Give it the right to, or name another folder.",
        code="not_writable",
    )


def holds_the_project(path: str) -> Invalid:
    """422: the project, or the engine's state, lies in the folder."""
    return Invalid(
        f"{path} holds this project or the engine's own files. Name a folder beside them.",
        code="holds_project",
    )


def tied_already(path: str, other: str) -> Conflict:
    """409: the folder, one above or one beneath it is tied."""
    return Conflict(
        f"{path} and the synced folder {other} share files. Untie that one first, or name a folder beside it.",
        code="already_tied",
        other=other,
    )


def no_formats() -> Invalid:
    """422: a folder to which nothing would be written."""
    return Invalid(
        "formats is empty, so nothing would be written. Name pagexml, alto or tei, or choose the mode keep-arranged.",
        code="no_formats",
    )


def came_from_nowhere(path: str) -> Invalid:
    """422: no project folder came from the folder, so there is nothing to arrange it by."""
    return Invalid(
        f"No folder of this project came from {path}, so there is nothing to arrange it by. Import the folder first, "
        "and tie it then.",
        code="no_project_folder",
    )


def folder_gone(path: str) -> Conflict:
    """409: the folder is not on the disk now."""
    return Conflict(
        f"The folder {path} is not there now, or is an empty one in its place. Mount or put it back; nothing was lost.",
        code="folder_gone",
    )


def not_duplicates(ids: Iterable[str], kept: Iterable[str]) -> Conflict:
    """409: some of the documents are kept ones, or no duplicates any more."""
    gone, staying = sorted(ids), sorted(kept)
    said = []
    if staying:
        said.append(f"{', '.join(staying)} would be kept")
    if gone:
        said.append(f"{', '.join(gone)} is no duplicate (any more)")
    return Conflict(
        f"Nothing was removed: {'; '.join(said)}. List the duplicates again, and name only those under remove.",
        code="not_a_duplicate",
        document_ids=gone,
        kept=staying,
    )


def not_to_take_in(path: str, why: str) -> Conflict:
    """409: a file of a synced folder is not to be read back."""
    return Conflict(f"{path} is not read back: {why}", code="not_read_back", path=path)


def unknown_file(file_id: str) -> NotFound:
    """404: no file of a synced folder has this id."""
    return NotFound(
        f"No file of a synced folder has the id {file_id}. It is given by the engine's own look at the folder.",
        code="unknown_sync_file",
    )


def stale_arrangement(path: str) -> Conflict:
    """409: a move that the arrangement does not hold now."""
    return Conflict(
        f"{path} would not move that way now. Ask for the arrangement again.", code="stale_arrangement"
    )


def not_arranged(path: str) -> Conflict:
    """409: the folder does not keep itself arranged."""
    return Conflict(
        f"{path} is in the mode index: its files stay where they are. Set the mode keep-arranged first.",
        code="not_arranged",
    )


def not_moved(path: str) -> Conflict:
    """409: a file that lies where its document says."""
    return Conflict(f"{path} was not moved by hand; there is nothing to follow.", code="not_moved")


def disk_refuses(path: str, error: OSError) -> ServiceError:
    """What stops a write for want of room or of a right."""
    return Conflict(
        f"{path} cannot be written: {error.strerror or error}. Make room or give the engine the right to; it is tried again.",
        code="disk_refuses",
    )
