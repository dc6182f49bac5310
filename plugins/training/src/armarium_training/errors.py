"""The refusals of training, evaluation and reading at scale, each one a sentence that says what to do."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Conflict, Forbidden, Invalid, Library, NotFound, ServiceError, missing

FROM_ITS_START = "Use the job id from the answer that started it."

unknown_training = missing("training", FROM_ITS_START, code="unknown_training", key="job_id")
unknown_gathering = missing("gathering of reasons", FROM_ITS_START, code="unknown_gathering", key="job_id")
unknown_comparison = missing("comparison of reasons", FROM_ITS_START, code="unknown_comparison", key="job_id")
unknown_evaluation = missing("evaluation", FROM_ITS_START, code="unknown_evaluation", key="job_id")
unknown_reading = missing("reading at scale", FROM_ITS_START, code="unknown_reading", key="job_id")
unknown_model = missing(
    "model that was trained here",
    "List the trained models to find the right one; models that were downloaded or imported are not among them.",
    code="unknown_model",
    key="model",
)


class NeedsToken(ServiceError):
    """412: remote work without a key of the model hub."""

    status = 412

    def __init__(self) -> None:
        super().__init__(
            "There is no token for the model hub. Add a provider of type model-hub and set your token as its "
            "key.",
            code="no_hub_token",
        )


def refuse_to_leave(library: Library, what: str, *, pages_may_leave: bool) -> None:
    """403 if the project uses only this machine, or nobody allowed its pages to leave it."""
    if library.asks_this_machine_alone:
        raise Forbidden(
            f"{what} runs on another machine, and this project uses only this one (its setting "
            "local_only_ai). Have its owner change that setting, or do the work here.",
            code="offline",
        )
    if not pages_may_leave:
        raise Forbidden(
            f"{what} sends pages to another machine. Allow it (pages_may_leave) if they may leave this one.",
            code="pages_may_leave",
        )


no_pages = Invalid.saying("no_pages", "There is no page at or below the documents that were named.")
nothing_to_teach = Invalid.saying(
    "nothing_to_teach",
    "No line of these pages can be used for training: none has a reading in a pass of {teacher!r} that is "
    "neither empty nor rejected. Count the training set to see why, page by page.",
)


no_base = Invalid.saying(
    "base_missing",
    "The base {base!r} is not installed. Installed are: {here}. Leave base out to train from scratch.",
)
base_card_damaged = Invalid.saying(
    "base_card_damaged",
    "The card of the base {base!r} cannot be read, so it is not known which pages it was trained on. "
    "Repair the card, or start from another base.",
)


def no_trainer(what: str, here: Iterable[str]) -> Invalid:
    """422: no driver trains models of this kind."""
    return Invalid(
        f"No trainer of {what} is installed. There are trainers for: {', '.join(here) or 'nothing'}.",
        code="no_trainer",
    )


no_vision_base = Invalid.saying(
    "base_missing",
    "The vision model {base!r} is not on this machine. Installed are: {here}. Name one of them, or another flavor than "
    "local.",
)
no_repository = Invalid.saying(
    "base_missing", "{base!r} is not the name of a model at the model hub; write owner/name."
)
no_flavor = Invalid.saying(
    "no_flavor",
    "No known machine class of the model hub has the {gigabytes:.0f} GB of GPU memory that this base "
    "needs. Name a flavor, or a smaller base.",
)
nothing_reasoned = Invalid.saying(
    "nothing_reasoned",
    "No line of these pages can be used for the arm {arm!r}: none of the gathered reasons suit it. Gather "
    "reasons first, raise max_trace_cer, or train the arm 'answer'.",
)
no_such_regions = Invalid.saying(
    "too_few_regions",
    "People have drawn or changed {regions} regions on {pages} pages; a detector needs at least 20 on 2 "
    "pages.",
)
bad_timeout = Invalid.saying(
    "bad_timeout", "{timeout!r} is not a duration; write a number with s, m, h or d, as in 4h."
)
not_in_project = NotFound.saying(
    "unknown_model",
    "This project contains no trained model {model!r}; list the trained models to see which ones it "
    "contains.",
)


def files_gone(model: str) -> Conflict:
    """409: the files of a model whose taking in was undone are no longer there."""
    return Conflict(
        f"The files of the model {model!r} are no longer in the project, so it cannot be brought back. Train "
        "it again.",
        code="files_gone",
        reason="gone",
    )


global_already = Conflict.saying(
    "already_global", "The global store already has a model {model!r}.", model="model"
)
no_room = Conflict.saying(
    "no_room",
    "The model {name} could not be written ({why}). Make room on the disk, then retry the job; the "
    "training is not lost.",
)
no_room_for_result = Conflict.saying(
    "no_room",
    "What came back from the model hub could not be written ({why}). Make room on the disk, then retry the "
    "job; nothing is lost.",
)


def no_longer_allowed(page: str, why: str) -> Forbidden:
    """403: the rights of a page that is being trained on were changed."""
    return Forbidden(
        f"The training has stopped, since it may no longer use the page {page}. {why} Retry the job to train "
        "without it.",
        code="rights_restricted",
        restricted_ids=[page],
    )


def no_room_yet() -> str:
    """Why the model of a training elsewhere is not taken in yet."""
    return "There is no room on the disk for the model that was trained elsewhere. Make room; it is fetched again every ten minutes."


not_finished = Conflict.saying("not_finished", "The training {job_id} has no finished model to take in.")
not_checked = Invalid.saying(
    "nothing_checked",
    "None of these pages has a pass of {checked!r} with readings. Give the model or the name of the "
    "checked pass.",
)
no_reader = Invalid.saying("model_not_here", "The candidate {model!r} is not on this machine. {why}")
remote_candidate = Invalid.saying(
    "remote_candidate",
    "The candidate {model!r} runs on another machine; only a vision model on a server of this machine can "
    "be evaluated.",
)
holds_nothing_out = Invalid.saying(
    "nothing_held_out",
    "The card of {model!r} names no held-out page, so no page is known to be new to it. Train it with "
    "held_out_ids to evaluate it.",
)
may_have_trained = Invalid.saying(
    "may_have_trained",
    "{model!r} may have been trained on the page {page}: its card does not name that page as held out. "
    "Name pages that were held out of every trained candidate.",
    document_id="page",
)
nothing_checked = Invalid.saying(
    "nothing_checked",
    "None of these pages has a reading that a person made or checked, so there is nothing to compare with. "
    "If the truth is in a pass that came with a file, name that pass (pass; --pass on the command line).",
)
name_pages = Invalid.saying(
    "no_pages",
    "No candidate was trained here, so no card says which pages to take. Name them in held_out_ids.",
)
no_candidates = Invalid.saying(
    "no_candidates",
    "There is no candidate: name one, or add the readers as they come out of the box (add_out_of_the_box).",
)
cannot_leave = Invalid.saying("cannot_run_there", "{card!r} cannot read at scale. {why}")
still_going = Conflict.saying(
    "still_going", "The reading is still running; failed shards can be sent again when it has ended."
)
nothing_failed = Conflict.saying(
    "none_failed", "No shard of this reading has failed; there is nothing to send again."
)
