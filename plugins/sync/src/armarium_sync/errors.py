"""The refusals of synced folders, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Invalid, NotFound, ServiceError, missing

no_folder = missing(
    "synced folder", "List the synced folders to find the right id.", code="unknown_sync_folder"
)


def nothing_there(path: str) -> NotFound:
    """404: neither the folder nor its parent exists."""
    return NotFound(
        f"There is nothing at {path}. Create the folder, or check the path.", code="path_not_found", path=path
    )


def not_a_folder(path: str) -> Invalid:
    """422: a file was named."""
    return Invalid(f"{path} is a file. Name a folder.", code="not_a_folder")


def not_writable(path: str, why: str) -> Invalid:
    """422: the engine has no permission to write there."""
    return Invalid(
        f"The engine cannot write to {path}: {why}. Give it permission, or name another folder.",
        code="not_writable",
    )


def holds_the_project(path: str) -> Invalid:
    """422: the folder contains the project or the engine's state."""
    return Invalid(
        f"{path} contains this project or the engine's own files. Name a folder next to them.",
        code="holds_project",
    )


def tied_already(path: str, other: str) -> Conflict:
    """409: the folder, or one above or below it, is tied."""
    return Conflict(
        f"{path} and the synced folder {other} share files. Untie that one first, or name a folder next to "
        "it.",
        code="already_tied",
        other=other,
    )


def no_formats() -> Invalid:
    """422: a folder to which nothing would be written."""
    return Invalid(
        "formats is empty, so nothing would be written. Name pagexml, alto or tei, or choose the mode keep-arranged.",
        code="no_formats",
    )


def unknown_format(asked: str, known: Iterable[str]) -> Invalid:
    """422: nothing that is installed writes the format."""
    return Invalid(
        f"There is no format {asked[:80]!r}. A folder can be kept in: {', '.join(known)}.",
        code="unknown_format",
    )


def came_from_nowhere(path: str) -> Invalid:
    """422: no project folder came from the folder, so it cannot be arranged."""
    return Invalid(
        f"No folder of this project came from {path}, so there is nothing to arrange it by. Import the "
        "folder first, then tie it.",
        code="no_project_folder",
    )


def folder_gone(path: str) -> Conflict:
    """409: the folder is missing at the moment."""
    return Conflict(
        f"The folder {path} is missing, or there is an empty one in its place. Mount it or put it back; "
        "nothing is lost.",
        code="folder_gone",
    )


def not_duplicates(ids: Iterable[str], kept: Iterable[str]) -> Conflict:
    """409: some of the documents are to be kept, or are no longer duplicates."""
    gone, staying = sorted(ids), sorted(kept)
    said = []
    if staying:
        said.append(f"{', '.join(staying)} would be kept")
    if gone:
        said.append(f"{', '.join(gone)} is not a duplicate (any more)")
    return Conflict(
        f"Nothing was removed: {'; '.join(said)}. List the duplicates again, and name only those under remove.",
        code="not_a_duplicate",
        document_ids=gone,
        kept=staying,
    )


def not_to_take_in(path: str, why: str) -> Conflict:
    """409: a file of a synced folder cannot be read back."""
    return Conflict(f"{path} is not read back: {why}", code="not_read_back", path=path)


def unknown_file(file_id: str) -> NotFound:
    """404: no file of a synced folder has this id."""
    return NotFound(
        f"No file of a synced folder has the id {file_id}. Such ids come from the engine's own scan of the "
        "folder.",
        code="unknown_sync_file",
    )


def stale_arrangement(path: str) -> Conflict:
    """409: a move that is not in the present arrangement."""
    return Conflict(
        f"{path} is no longer to be moved that way. Get the arrangement again.", code="stale_arrangement"
    )


def not_arranged(path: str) -> Conflict:
    """409: the folder is not arranged."""
    return Conflict(
        f"{path} is in the mode index: its files stay where they are. Set the mode keep-arranged first.",
        code="not_arranged",
    )


def not_moved(path: str) -> Conflict:
    """409: a file that is where its document says."""
    return Conflict(f"{path} was not moved by hand; there is nothing to follow.", code="not_moved")


def disk_refuses(path: str, error: OSError) -> ServiceError:
    """A write that fails for lack of space or permission."""
    return Conflict(
        f"{path} cannot be written: {error.strerror or error}. Make room or give the engine permission; it "
        "will be tried again.",
        code="disk_refuses",
    )
