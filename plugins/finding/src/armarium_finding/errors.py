"""The refusals of finding, each a sentence a person can act on."""

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
        f"There is no run {job_id} that finds documents. Name a run by the job id that its start answered.",
        code="unknown_run",
    )


def superseded_proposal(proposal_id: str, by: str) -> Conflict:
    """409: a newer run has proposed for the folder."""
    return Conflict(
        f"The proposal {proposal_id} was superseded by a newer one, {by}. Work on that one.",
        code="proposal_superseded",
        superseded_by=by,
    )


def no_document(index: int, count: int) -> Invalid:
    """422: an index out of range."""
    return Invalid(
        f"There is no document {index}; the proposal has {count}, counted from 0.", code="unknown_index"
    )


def decided_already(index: int, state: str) -> Conflict:
    """409: the document was accepted or rejected."""
    return Conflict(
        f"Document {index} was {state} already. Undo that step to change it.",
        code="decided_already",
        index=index,
    )


def nothing_left() -> Conflict:
    """409: every document was decided."""
    return Conflict(
        "Every document of this proposal was accepted or rejected already.", code="decided_already"
    )


def page_elsewhere(page_id: str, index: int) -> Invalid:
    """422: a page that is not in the document."""
    return Invalid(f"Page {page_id} is not in document {index}; name one of its pages.", code="unknown_page")


def begins_already(page_id: str, index: int) -> Invalid:
    """422: a split before the first page."""
    return Invalid(
        f"Document {index} begins with page {page_id} already; name the page that starts the second document.",
        code="begins_already",
    )


def no_neighbour(index: int, side: str) -> Invalid:
    """422: the first document has none before it, the last none after it."""
    return Invalid(f"There is no document {side} document {index}.", code="unknown_index")


def only_page(index: int) -> Invalid:
    """422: a document would be left without a page."""
    return Invalid(f"Document {index} has one page only; join it to its neighbour instead.", code="only_page")


def two_ways() -> Invalid:
    """422: both ways of saying which documents are meant."""
    return Invalid("Give document_indexes or min_confidence, not both.", code="two_ways")


def page_gone(page_id: str, index: int) -> Conflict:
    """409: a page is not loose in the folder any more."""
    return Conflict(
        f"Page {page_id} of document {index} is not loose in its folder any more: it was moved, grouped or deleted since. "
        "Find the documents of the folder again.",
        code="pages_moved",
        page_id=page_id,
    )


def no_pages() -> Invalid:
    """422: nothing in the scope that could be found in."""
    return Invalid(
        "No loose page lies in what scope_ids name. Name folders that hold pages, or pages that lie in a folder.",
        code="no_pages",
    )


def not_a_folder(document_id: str) -> Invalid:
    """422: documents are found in folders."""
    return Invalid(f"{document_id} is no folder; documents are found in folders.", code="not_a_folder")


def no_proposal(folder_id: str) -> Invalid:
    """422: a folder without a proposal cannot be scored."""
    return Invalid(
        f"Folder {folder_id} has no proposal to score. Find its documents first.", code="no_proposal"
    )


def none_judged(proposal_id: str) -> Invalid:
    """422: no person judged a document of the proposal."""
    return Invalid(
        f"No person accepted, rejected or adjusted a document of the proposal {proposal_id}, so there is nothing to "
        "measure it against.",
        code="none_judged",
    )


def other_folder(proposal_id: str, folder_id: str) -> Invalid:
    """422: the proposal is of another folder."""
    return Invalid(f"The proposal {proposal_id} is not of the folder {folder_id}.", code="other_folder")


def not_a_proposal(why: str) -> Invalid:
    """422: what was sent cannot be kept as a proposal."""
    return Invalid(f"This is no proposal for the folder: {why}", code="not_a_proposal")
