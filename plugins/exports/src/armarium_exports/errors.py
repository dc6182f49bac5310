"""The refusals of exports, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import Conflict, Forbidden, Invalid, NotFound, Unavailable

already_there = Conflict.saying(
    "destination_exists",
    "{path} already exists. Name another place, or use overwrite, which replaces only what an export wrote.",
    path="path",
)
not_ours = Conflict.saying("not_ours", "{path} is left as it is: {why}. Name another place.", path="path")
no_folder = Invalid.saying(
    "no_folder", "The folder {path} does not exist. Create it first, or name one that exists.", path="path"
)
wrong_ending = Invalid.saying("wrong_ending", "{path} must end in {ending}; rename the file.", path="path")
cannot_write = Unavailable.saying(
    "cannot_write",
    "{path} could not be written: {why}. What was there before is unchanged; free space or choose another "
    "place.",
    path="path",
)
pages_only = Invalid.saying(
    "pages_only",
    "{format_name} has one page per file. Keep it per page, or choose word, markdown, plain-text, pdf or tei.",
)
system_folder = Invalid.saying(
    "system_folder",
    "{path} belongs to the operating system. Choose a folder of your own, outside the project.",
    path="path",
)
inside_project = Invalid.saying(
    "inside_project",
    "{path} is inside a project, which manages its own files. Choose a folder outside it.",
    path="path",
)


folder_kept = Conflict.saying(
    "folder_kept",
    "An export of the format {other} is already kept in {path}. Stop that one, or choose another folder.",
    path="path",
)
folder_replaced = Conflict.saying(
    "folder_replaced",
    "{path} has become a link since the export was kept there, so nothing is written. Put the folder back, "
    "or stop the export and keep it in another folder.",
    path="path",
)


unknown_receiver = Invalid.saying("unknown_receiver", "There is no profile for {name!r}. There are: {known}.")
nothing_to_export = Invalid.saying(
    "nothing_to_export",
    "None of these pages can be written: they have no pass or no picture yet, or are withheld. First find "
    "their lines or import layout files.",
)
folder_needed = Invalid.saying(
    "folder_needed", "Name the folder for the {what} in the setting folder, as a full path."
)
unknown_export = NotFound.saying(
    "unknown_export",
    "There is no kept export {export_id} in this project. List them to find the right id.",
    id="export_id",
)
no_pages = NotFound.saying(
    "no_pages", "No page of {title} is in the project any more; there is nothing to write."
)
one_scope = Invalid.saying(
    "one_scope",
    "An export as {what} is of the whole project or of one folder or document; name at most one in scope_ids.",
)
receiver_needed = Invalid.saying(
    "receiver_needed", "Name the program in `receiver`; the list of receivers has their names."
)
download_gone = NotFound.saying(
    "download_gone",
    "There is no such file to save: it was made by somebody else, or more than an hour ago. Have it made again.",
)
download_withheld = Forbidden.saying(
    "download_withheld", "Something in this file has been withheld since it was made. Have it made again."
)

only_files_of_the_past = Invalid.saying(
    "only_files_of_the_past",
    "An export of the kind {what} is made of the project as it is; files (what: files) can be made as of a past step.",
)
no_volume = Invalid.saying(
    "no_volume",
    "No file of {format} has many pages; formats of one file are {known}. Choose one, or files for each page.",
)
no_facsimile = Invalid.saying(
    "no_facsimile", "A file of {format} has no place for pictures; a facsimile stands in word and pdf."
)
