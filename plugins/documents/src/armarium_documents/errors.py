"""The refusals of documents, raised by queries, actions and jobs."""

from __future__ import annotations

from armarium.api import BadRequest, Broken, Conflict, Forbidden, Invalid, NotFound, NotUndoable, missing

unknown_document = missing("document", "List documents to find the right id.", key="document_id")
unknown_artifact = missing("artifact", "List a document's artifacts to find the right id.")
unknown_representation = missing("representation", "List a document's representations to find the right id.")
unknown_annotation = missing("annotation", "List a document's annotations to find the right id.")
classification_not_found = missing(
    "prototype", "List the classifications to find the right key.", code="classification_not_found", key="key"
)


in_trash = Conflict.saying(
    "document_in_trash",
    "“{name}” is in the Trash. Restore it first, then try again.",
    document_id="document_id",
)
not_in_trash = Conflict.saying(
    "not_in_trash", "“{name}” is not in the Trash, so there is nothing to restore.", document_id="document_id"
)
stale_document = Conflict.saying(
    "stale_version",
    "“{name}” was changed at {current}, after what you read of {expected}; nothing was written. Read it "
    "again and repeat the change on what is there now.",
    document_id="document_id",
    expected_updated_at="expected",
    current_updated_at="current",
)
not_a_container = Invalid.saying(
    "not_a_container",
    "“{name}” ({kind}) cannot hold this. Choose a folder, or a node that may have pages.",
    document_id="document_id",
)
into_itself = Conflict.saying(
    "move_into_itself",
    "“{name}” cannot be moved into itself or into something beneath it. Choose another place.",
    document_id="document_id",
)
too_deep = Invalid.saying(
    "too_deep", "The tree would become more than {limit} levels deep. Choose a place nearer the top."
)
not_a_sibling = Invalid.saying(
    "not_a_sibling",
    "after_id {after_id} is not a live child of the parent you chose, or is itself being moved. Name a "
    "sibling, or leave after_id out to go last.",
)
sources_stays = Conflict.saying(
    "sources_folder",
    "The folder Sources belongs to every project and cannot be {verb}. Move what is inside it instead.",
)
unknown_rendition = NotFound.saying(
    "rendition_not_found",
    "Document {document_id} has no rendition {rendition_id}. List its renditions to see which there are.",
    rendition_id="rendition_id",
)
not_materialized = NotFound.saying(
    "rendition_not_materialized",
    "The bytes of rendition {rendition_id} have not been made yet. Wait for the job that pictures the "
    "pages, choose another rendition, or have it made.",
    rendition_id="rendition_id",
)


no_recording = NotFound.saying(
    "no_recording",
    "“{name}” is not a recording. Choose one, or import a file of speech (WAV, FLAC, Ogg, MP3 or M4A).",
    document_id="document_id",
)
no_picture = NotFound.saying(
    "no_picture",
    "“{name}” has no picture of its own. Choose a page of it, or import an image.",
    document_id="document_id",
)
no_thumbnail = NotFound.saying(
    "no_thumbnail",
    "Document {document_id} has no thumbnail (yet); thumbnails are made in the background after an import.",
    document_id="document_id",
)


dangling = NotFound.saying(
    "target_not_found",
    "What “{name}” points at is gone or in the Trash. Restore it, or delete the bookmark.",
    document_id="document_id",
)
not_an_alias = NotFound.saying(
    "bookmark_not_found", "“{name}” is not a bookmark, so it points at nothing.", document_id="document_id"
)
alias_of_alias = Invalid.saying(
    "target_is_alias",
    "“{name}” is itself an alias. Point at the document it stands for.",
    document_id="document_id",
)


def unknown_prototype(key: str, *, because: str | None = None) -> Invalid:
    """422: a prototype key does not resolve."""
    chain = f" (the prototype {because} inherits from it)" if because else ""
    return Invalid(
        f"There is no prototype {key!r}{chain}. List the classifications to find the right key.",
        code="unknown_prototype",
        key=key,
    )


def prototype_cycle(chain: list[str]) -> Invalid:
    """422: a prototype would inherit from itself."""
    return Invalid(
        f"The prototypes inherit in a circle: {' → '.join(chain)}. Give one of them another parent.",
        code="prototype_cycle",
        chain=chain,
    )


no_proposal = NotFound.saying(
    "proposal_not_found",
    "No kind has been proposed for “{name}”, so there is nothing to decide.",
    document_id="document_id",
)
proposal_decided = Conflict.saying(
    "already_decided",
    "The kind proposed for “{name}” was already {state}. Undo that step to decide again.",
    document_id="document_id",
    state="state",
)
source_not_open = Conflict.saying(
    "source_not_open", "The project {name} is not open. Open it, then transfer again."
)
same_project = BadRequest.saying(
    "same_project",
    "{name} is both the source and the target of the transfer. Use document.move within a project.",
)


target_no_folder = BadRequest.saying(
    "target_not_a_folder",
    "“{name}” ({kind}) is no folder, and documents are transferred into one. Choose a folder, or leave target_parent_id "
    "out for Sources.",
    document_id="document_id",
)
alias_stays = Conflict.saying(
    "alias_stays",
    "“{name}” is an alias, and aliases stay within a project. Transfer what it points at.",
    document_id="document_id",
)


locked_stays = Forbidden.saying(
    "node_locked",
    "“{name}” is locked, and what is locked is not transferred. Ask an owner to unlock it first.",
    document_id="document_id",
)
held_by_move = Conflict.saying(
    "held_by_move",
    "“{name}” is held by a move to another project that was interrupted. Open that project, and the move "
    "is finished; where it was removed, the move is taken back by the next transfer or when this project "
    "is opened again.",
    document_id="document_id",
)
still_arriving = Conflict.saying(
    "still_arriving",
    "“{name}” is being transferred from another project and is not complete yet.",
    document_id="document_id",
)
transfer_failed = Broken.saying("transfer_failed", "The transfer failed: {why} {after}")
unknown_transfer = NotFound.saying(
    "transfer_not_found",
    "There is no move {transfer_id} from this project. Begin one with document.transfer in the target "
    "project.",
)
not_into_branch = Conflict.saying(
    "not_into_branch",
    "{branch} is a branch, which changes no project until it is merged. Transfer copies into it instead.",
)
not_moving = Conflict.saying(
    "not_moving",
    "The move {transfer_id} cannot send anything to the Trash: {why}. Begin a new one with "
    "document.transfer.",
)
changed_meanwhile = Conflict.saying(
    "changed_meanwhile", "What is being moved was changed while it was copied. Transfer it again."
)


other_project_closed = NotUndoable.saying(
    "undo_refused",
    "A move is undone in both projects at once, and {path} is not open. Open it and try again.",
    audit_id="audit_id",
)
cell_too_long = Invalid.saying(
    "cell_too_long",
    "A value of {heading} has {length:,} characters, and a cell of a workbook holds at most {most:,}. Export CSV instead.",
)
not_a_table = Invalid.saying(
    "not_a_table", "The table cannot be read: {why}. A table is a CSV file or a workbook (.xlsx)."
)
no_match_column = Invalid.saying(
    "no_match_column",
    "The table has no column {wanted} that says which document a row is about; its columns are {headings}. Name one "
    "with match: document.id, document.path, document.name, or an attribute.",
)
table_has_problems = Invalid.saying(
    "table_has_problems",
    "{problems} of the table cannot be taken; nothing was written. The first: {first} See all by a dry run, then mend "
    "the table, or leave them out (skip).",
)
