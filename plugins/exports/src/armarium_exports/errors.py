"""The refusals of exports, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Invalid, NotFound, Unavailable


def already_there(path: str) -> Conflict:
    """409: the destination exists, and overwrite was not requested."""
    return Conflict(
        f"{path} already exists. Name another place, or use overwrite, which replaces only what an export wrote.",
        code="destination_exists",
        path=path,
    )


def not_ours(path: str, why: str) -> Conflict:
    """409: the destination was not written by such an export, so overwrite does not apply to it."""
    return Conflict(f"{path} is left as it is: {why}. Name another place.", code="not_ours", path=path)


def no_folder(path: str) -> Invalid:
    """422: the folder to write to does not exist."""
    return Invalid(
        f"The folder {path} does not exist. Create it first, or name one that exists.",
        code="no_folder",
        path=path,
    )


def wrong_ending(path: str, ending: str) -> Invalid:
    """422: a file name without the required extension."""
    return Invalid(f"{path} must end in {ending}; rename the file.", code="wrong_ending", path=path)


def cannot_write(path: str, why: str) -> Unavailable:
    """503: the disk refused, and what was there before is unchanged."""
    return Unavailable(
        f"{path} could not be written: {why}. What was there before is unchanged; free space or choose another place.",
        code="cannot_write",
        path=path,
    )


def unknown_kept_format(asked: str, known: Iterable[str]) -> Invalid:
    """422: nothing that is installed writes the format."""
    return Invalid(
        f"There is no format {asked[:80]!r}. An export can be kept in: {', '.join(known)}.",
        code="unknown_format",
    )


def pages_only(format_name: str) -> Invalid:
    """422: a format of single pages is requested per document."""
    return Invalid(
        f"{format_name} has one page per file. Keep it per page, or choose word, markdown, plain-text or tei.",
        code="pages_only",
    )


def system_folder(path: str) -> Invalid:
    """422: the folder belongs to the operating system."""
    return Invalid(
        f"{path} belongs to the operating system. Choose a folder of your own, outside the project.",
        code="system_folder",
        path=path,
    )


def inside_project(path: str) -> Invalid:
    """422: the folder is inside a project."""
    return Invalid(
        f"{path} is inside a project, which manages its own files. Choose a folder outside it.",
        code="inside_project",
        path=path,
    )


def folder_kept(path: str, other: str) -> Conflict:
    """409: another kept export writes files of that format there."""
    return Conflict(
        f"An export of the format {other} is already kept in {path}. Stop that one, or choose another "
        "folder.",
        code="folder_kept",
        path=path,
    )


def folder_replaced(path: str) -> Conflict:
    """409: a link has taken the place of the folder of a kept export."""
    return Conflict(
        f"{path} has become a link since the export was kept there, so nothing is written. Put the folder back, or "
        "stop the export and keep it in another folder.",
        code="folder_replaced",
        path=path,
    )


def unknown_receiver(name: str, known: Iterable[str]) -> Invalid:
    """422: there is no profile of that name."""
    return Invalid(
        f"There is no profile for {name!r}. There are: {', '.join(known)}.", code="unknown_receiver"
    )


def nothing_to_export() -> Invalid:
    """422: nothing in the scope can be written."""
    return Invalid(
        "None of these pages can be written: they have no pass or no picture yet, or are withheld. First "
        "find their lines or import layout files.",
        code="nothing_to_export",
    )


def folder_needed(what: str) -> Invalid:
    """422: a recipe job that writes files was given no folder."""
    return Invalid(
        f"Name the folder for the {what} in the setting folder, as a full path.", code="folder_needed"
    )


def unknown_export(export_id: str) -> NotFound:
    """404: no kept export has this id."""
    return NotFound(
        f"There is no kept export {export_id} in this project. List them to find the right id.",
        code="unknown_export",
        id=export_id,
    )


def no_pages(title: str) -> NotFound:
    """404: none of the pages of a file exists any more."""
    return NotFound(
        f"No page of {title} is in the project any more; there is nothing to write.", code="no_pages"
    )
