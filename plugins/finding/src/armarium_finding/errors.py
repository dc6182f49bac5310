"""The refusals of finding, each one a sentence that says what to do."""

from __future__ import annotations

from armarium.api import Conflict, Invalid, NotFound, missing

unknown_proposal = missing(
    "proposal",
    "List the proposals of the folder to find the right one.",
    code="unknown_proposal",
    key="proposal_id",
)


unknown_run = NotFound.saying(
    "unknown_run",
    "There is no run {job_id} that finds documents. Use the job id from the answer that started a run.",
)
superseded_proposal = Conflict.saying(
    "proposal_superseded",
    "The proposal {proposal_id} was superseded by a newer one, {by}. Use that one.",
    superseded_by="by",
)
no_document = Invalid.saying(
    "unknown_index", "There is no document {index}; the proposal has {count}, counted from 0."
)
decided_already = Conflict.saying(
    "decided_already",
    "Document {index} is already {state}. Undo that step to change it; if that was in an earlier proposal, "
    "find the documents again then.",
    index="index",
)
nothing_left = Conflict.saying(
    "decided_already", "Every document of this proposal is already accepted or rejected."
)
page_elsewhere = Invalid.saying(
    "unknown_page", "Page {page_id} is not in document {index}; name one of its pages."
)


begins_already = Invalid.saying(
    "begins_already",
    "Document {index} already begins with page {page_id}; name the page that starts the second document.",
)
no_neighbour = Invalid.saying("unknown_index", "There is no document {side} document {index}.")
only_page = Invalid.saying(
    "only_page", "Document {index} has only one page; join it to its neighbour instead."
)
two_ways = Invalid.saying("two_ways", "Give document_indexes or min_confidence, not both.")
page_gone = Conflict.saying(
    "pages_moved",
    "Page {page_id} of document {index} is no longer loose in its folder: it has been moved, grouped or "
    "deleted. Find the documents of the folder again.",
    page_id="page_id",
)
no_pages = Invalid.saying(
    "no_pages",
    "There is no loose page in what was named. Name folders that contain pages, or pages that are in a "
    "folder; the parts of a split picture and the pages of a picture file stay with it.",
)


def nothing_read(pages: int) -> Invalid:
    """422: nobody has read any of the pages."""
    pages_words = "The page has not been read" if pages == 1 else f"None of the {pages} pages has been read"
    return Invalid(
        f"{pages_words}, so there is nothing to judge by. Find their lines and read them first: armarium lines, then "
        "armarium read.",
        code="nothing_read",
    )


def against_a_decision(page_id: str, by: str, *, begins: bool) -> Conflict:
    """409: a person decided otherwise in an earlier proposal of the folder."""
    decision = "begins a document" if begins else "continues the document before it"
    return Conflict(
        f"{by} decided in an earlier proposal that page {page_id} {decision}. Find the documents of the folder again, or undo "
        "that step first.",
        code="against_a_decision",
        page_id=page_id,
    )


not_a_folder = Invalid.saying(
    "not_a_folder", "{document_id} is not a folder; documents are found only in folders."
)
no_proposal = Invalid.saying(
    "no_proposal", "Folder {folder_id} has no proposal to score. Find its documents first."
)
none_judged = Invalid.saying(
    "none_judged",
    "Nobody has accepted, rejected or adjusted a document of the proposal {proposal_id}, so there is "
    "nothing to measure it against.",
)
other_folder = Invalid.saying(
    "other_folder", "The proposal {proposal_id} does not belong to the folder {folder_id}."
)
not_a_proposal = Invalid.saying("not_a_proposal", "This is not a proposal for the folder: {why}")
