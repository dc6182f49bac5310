"""The refusals of finding, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, NotFound, missing

unknown_proposal = missing(
    "proposal",
    "List the proposals of the folder to find the right one.",
    code="unknown_proposal",
    key="proposal_id",
)


def unknown_run(job_id: str) -> NotFound:
    """404: no run has this id."""
    return NotFound(
        f"There is no run {job_id} that finds documents. Use the job id from the answer that started a run.",
        code="unknown_run",
    )


def superseded_proposal(proposal_id: str, by: str) -> Conflict:
    """409: a newer run has made a proposal for the folder."""
    return Conflict(
        f"The proposal {proposal_id} was superseded by a newer one, {by}. Use that one.",
        code="proposal_superseded",
        superseded_by=by,
    )


def no_document(index: int, count: int) -> Invalid:
    """422: an index out of range."""
    return Invalid(
        f"There is no document {index}; the proposal has {count}, counted from 0.", code="unknown_index"
    )


def decided_already(index: int, state: str) -> Conflict:
    """409: the document is already accepted or rejected."""
    return Conflict(
        f"Document {index} is already {state}. Undo that step to change it; if that was in an earlier proposal, find the "
        "documents again then.",
        code="decided_already",
        index=index,
    )


def nothing_left() -> Conflict:
    """409: every document is decided."""
    return Conflict(
        "Every document of this proposal is already accepted or rejected.", code="decided_already"
    )


def page_elsewhere(page_id: str, index: int) -> Invalid:
    """422: a page that is not in the document."""
    return Invalid(f"Page {page_id} is not in document {index}; name one of its pages.", code="unknown_page")


def begins_already(page_id: str, index: int) -> Invalid:
    """422: a split before the first page."""
    return Invalid(
        f"Document {index} already begins with page {page_id}; name the page that starts the second "
        "document.",
        code="begins_already",
    )


def no_neighbour(index: int, side: str) -> Invalid:
    """422: the first document has none before it, and the last none after it."""
    return Invalid(f"There is no document {side} document {index}.", code="unknown_index")


def only_page(index: int) -> Invalid:
    """422: a document would be left without a page."""
    return Invalid(f"Document {index} has only one page; join it to its neighbour instead.", code="only_page")


def two_ways() -> Invalid:
    """422: both ways of choosing documents."""
    return Invalid("Give document_indexes or min_confidence, not both.", code="two_ways")


def page_gone(page_id: str, index: int) -> Conflict:
    """409: a page is no longer loose in the folder."""
    return Conflict(
        f"Page {page_id} of document {index} is no longer loose in its folder: it has been moved, grouped or "
        "deleted. Find the documents of the folder again.",
        code="pages_moved",
        page_id=page_id,
    )


def no_pages() -> Invalid:
    """422: no loose page in the scope."""
    return Invalid(
        "There is no loose page in what was named. Name folders that contain pages, or pages that are "
        "in a folder.",
        code="no_pages",
    )


def nothing_read(pages: int) -> Invalid:
    """422: nobody has read any of the pages."""
    which = "The page has not been read" if pages == 1 else f"None of the {pages} pages has been read"
    return Invalid(
        f"{which}, so there is nothing to judge by. Find their lines and read them first: armarium lines, then "
        "armarium read.",
        code="nothing_read",
    )


def against_a_decision(page_id: str, by: str, *, begins: bool) -> Conflict:
    """409: a person decided otherwise in an earlier proposal of the folder."""
    said = "begins a document" if begins else "continues the document before it"
    return Conflict(
        f"{by} decided in an earlier proposal that page {page_id} {said}. Find the documents of the folder again, or undo "
        "that step first.",
        code="against_a_decision",
        page_id=page_id,
    )


def not_a_folder(document_id: str) -> Invalid:
    """422: documents are found only in folders."""
    return Invalid(
        f"{document_id} is not a folder; documents are found only in folders.", code="not_a_folder"
    )


def no_proposal(folder_id: str) -> Invalid:
    """422: a folder without a proposal cannot be scored."""
    return Invalid(
        f"Folder {folder_id} has no proposal to score. Find its documents first.", code="no_proposal"
    )


def none_judged(proposal_id: str) -> Invalid:
    """422: nobody judged a document of the proposal."""
    return Invalid(
        f"Nobody has accepted, rejected or adjusted a document of the proposal {proposal_id}, so there is "
        "nothing to measure it against.",
        code="none_judged",
    )


def other_folder(proposal_id: str, folder_id: str) -> Invalid:
    """422: the proposal is of another folder."""
    return Invalid(
        f"The proposal {proposal_id} does not belong to the folder {folder_id}.", code="other_folder"
    )


def not_a_proposal(why: str) -> Invalid:
    """422: what was sent cannot be stored as a proposal."""
    return Invalid(f"This is not a proposal for the folder: {why}", code="not_a_proposal")
