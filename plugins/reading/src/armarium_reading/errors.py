"""The refusals of reading, one sentence each: what was wrong, what was expected, what to do."""

from __future__ import annotations

from collections.abc import Sequence

from armarium.api import BadRequest, Conflict, Forbidden, Invalid, NotFound, Unavailable

MAX_NAMED = 8


def no_pages(scope: Sequence[str]) -> Invalid:
    """Nothing to read at or below the documents named."""
    return Invalid(
        f"There is no page outside the Trash at or below {', '.join(scope[:MAX_NAMED])}. "
        "Name page images, or folders that contain some.",
        code="no_pages",
    )


def unsupported_method(label: str, what: str, able: Sequence[str]) -> Invalid:
    """A reader was asked for something it cannot do."""
    others = f" These do: {', '.join(able)}." if able else ""
    return Invalid(f"{label} does not {what}.{others}", code="reader_cannot")


evidence_needs_line = Invalid.saying(
    "evidence_needs_line", "Segment {segment_id} is a region; ask for the letters of one of its lines."
)
evidence_withheld = Forbidden.saying("evidence_withheld", "{why}")
no_such_reading = NotFound.saying(
    "no_such_reading",
    "There is no reading {representation_id} of segment {segment_id}; list the readings of the segment.",
)


no_transcriber = Invalid.saying(
    "not_a_transcriber",
    "The driver {name} is not a Transcriber; its author must derive it from armarium_worker.Transcriber.",
)


not_for_language = Invalid.saying("language_not_read", "{why}")


def none_fits(reasons: Sequence[str]) -> Invalid:
    """No reader was named, and none of the candidates reads the language."""
    why = (
        " ".join(reasons)
        or "No installed reader states a confidence that can be compared with that of others."
    )
    return Invalid(
        f"No reader can be chosen automatically. {why} Name a reader and its model.", code="no_reader_fits"
    )


model_of_whom = Invalid.saying(
    "reader_not_named", "A model was named without a reader; also name the reader that uses it."
)


model_needed = Invalid.saying("model_needed", "{why}")
takes_no_model = Invalid.saying("model_not_taken", "{label} takes no model files; leave the model out.")


def no_such_model(name: str, kind: str, here: Sequence[str]) -> NotFound:
    """The model named is not on this machine."""
    installed_words = f"Installed are: {', '.join(here[:MAX_NAMED])}." if here else "None is installed yet."
    return NotFound(
        f"There is no {kind} model called {name} on this machine. {installed_words}", code="unknown_model"
    )


other_pages_pass = Invalid.saying("other_document", "The pass {pass_id} belongs to none of the named pages.")
no_lines = Invalid.saying("no_lines", "None of the pages has lines yet. Find their lines first, then read.")


unknown_kind = BadRequest.saying("unknown_runtime", "There is no runtime called {kind}. Known: {known}.")


def no_runner(kind: str, runtime: str | None) -> Conflict:
    """409 of the download route: nothing on this machine could use the model."""
    words = (
        f"Install it with `armarium runtime install {runtime}`."
        if runtime
        else "Install a reader that uses such models."
    )
    return Conflict(f"Nothing on this machine runs {kind} models. {words}", code="no_runner")


offline = Conflict.saying(
    "offline",
    "The engine works offline (SERVICE_LOCAL_ONLY), so no model can be downloaded. Put the file among the "
    "engine's models by hand, or start the engine without that setting.",
)
in_use = Conflict.saying(
    "in_use", "The model {model} is in use. Wait for its jobs, or cancel them, and try again."
)
model_name_taken = Conflict.saying(
    "name_taken", "A model called {name} is already on this machine. Remove it first, or choose another name."
)
not_the_pinned_file = Conflict.saying(
    "wrong_file",
    "{name} of {model} is not the file that was first downloaded from there: its SHA-256 differs. Nothing was kept.",
)
model_too_large = Invalid.saying(
    "model_too_large",
    "{name} is larger than {most:,} MiB, the most that is taken. Use a smaller edition of the model.",
)
no_model_file = Invalid.saying(
    "no_model_file",
    "There is no file {name} to take in. Name the model's file, or the folder that contains it.",
)
takes_one_file = Conflict.saying(
    "no_runner",
    "Models of {kind} are not taken in by this command. Put the file among the engine's models, in the folder {folder}.",
)
shipped_model = Conflict.saying(
    "shipped", "The model {model} is part of the reader's package; remove the package or its runtime instead."
)


def unknown_provider(named: str, known: Sequence[str]) -> NotFound:
    """The provider named does not exist."""
    hint = f" Known providers: {', '.join(known[:MAX_NAMED])}." if known else ""
    return NotFound(f"There is no provider called {named[:80]}.{hint}", code="unknown_provider")


def unlisted_model(model: str, provider: str, known: Sequence[str]) -> NotFound:
    """The provider's list does not contain the model named."""
    hint = (
        f"It lists: {', '.join(known[:MAX_NAMED])}." if known else "It lists none yet; add its models first."
    )
    return NotFound(f"The provider {provider} lists no model {model[:200]}. {hint}", code="unknown_model")


no_default_model = Invalid.saying(
    "model_needed", "No model was named, and {provider} has no default model. Name one."
)
name_taken = Conflict.saying("name_taken", "A provider called {name} already exists; choose another name.")
name_of_a_reader = Conflict.saying(
    "name_taken", "{name} is the name of a reader, or of what the engine itself makes; choose another name."
)
address_needed = Invalid.saying("address_needed", "{label}: state its address (api_base).")
nothing_to_change = Invalid.saying(
    "invalid_request",
    "Send at least one of name, api_base, enabled and sort_order; only api_base may be null.",
)
key_lost = Conflict.saying("key_lost", "The key of {provider} is no longer in the keychain; set it again.")
price_unknown = Conflict.saying(
    "price_unknown",
    "This agent has a budget in dollars, and what {model} costs is not known. State its prices in the list of models, or "
    "ask a model on this machine.",
)
key_needed = Conflict.saying("key_needed", "{provider} has no key; set one, then try again.")


def provider_off(provider: str, model: str | None = None) -> Forbidden:
    """403: the owner switched off the provider, or this model of it."""
    model_words = f"The model {model} of {provider}" if model else f"The provider {provider}"
    return Forbidden(f"{model_words} is switched off; its owner can switch it on.", code="provider_off")


held_offline = Forbidden.saying(
    "offline",
    "The engine works offline (SERVICE_LOCAL_ONLY), and {provider} is not on this machine. Choose a model "
    "server on this machine, or start the engine without that setting.",
)
project_held_local = Forbidden.saying(
    "offline",
    "This project uses only models on this machine (its setting local_only_ai), and {provider} is not on "
    "this machine. Choose a model server on this machine, or have the owner change that setting.",
)
pages_stay = Forbidden.saying(
    "pages_may_not_leave",
    "{provider} is not on this machine, and pages may not leave it. Allow it (pages_may_leave), or choose "
    "a model server on this machine.",
)
no_model = Invalid.saying("not_a_model", "{provider} answers no questions; choose a provider of models.")
sees_nothing = Invalid.saying(
    "no_vision", "The model {model} is not listed as one that takes pictures (vision); choose another."
)
address_out_of_reach = Forbidden.saying(
    "out_of_reach",
    "{whose} is one to which no request is sent (link-local, a cloud's metadata service, or this machine "
    "under another name); state the address of the server itself.",
)
provider_failed = Unavailable.saying("provider_failed", "{provider} {why}")
provider_refused = Unavailable.saying("provider_refused", "{provider} {why}")
provider_unreachable = Unavailable.saying(
    "provider_unreachable",
    "{provider} cannot be asked. {why} Check that it runs and that its address is right.",
)


BUSY = {
    408: "{provider} gave up waiting for the question (408); try again {when}.",
    429: "{provider} takes no more questions now (429): it was asked too many, or its credit is used up; try again {when}.",
    502: "{provider} cannot be reached by its own gateway (502); try again {when}.",
    503: "{provider} is out of service now (503); try again {when}.",
    504: "{provider} did not answer its own gateway in time (504); try again {when}.",
    529: "{provider} is overloaded (529); try again {when}.",
}
"""What is said of a provider that takes no question now, by the status of its answer."""


def provider_busy(provider: str, status: int, seconds: float | None) -> Unavailable:
    """The provider takes no question now, or asks for a longer wait than a call may take."""
    when = f"in {seconds:.0f} seconds" if seconds else "later"
    words = BUSY[status].format(provider=provider, when=when)
    return Unavailable(words, code="provider_busy", retry_after=seconds)


took_too_long = Unavailable.saying(
    "provider_failed", "{provider} has not answered within {seconds:.0f} seconds; try again later."
)
answer_does_not_fit = Invalid.saying(
    "answer_not_valid",
    "The answer of {provider} does not have the requested form (at {where}), and neither has its second "
    "attempt. Nothing of it was used.",
)
provider_needed = Invalid.saying(
    "provider_needed", "This work needs a model; name its provider in the setting provider."
)


def prompt_elsewhere(name: str) -> Invalid:
    """422: the prompt file named lies outside the folder of prompts."""
    return Invalid(
        f"A prompt file must be in the folder recipe of the project; {name[:200]!r} leads elsewhere. Put the "
        "file there and give its path within that folder.",
        code="bad_prompt_file",
    )


def unknown_prompt(name: str) -> NotFound:
    """404: the project has no such prompt file."""
    return NotFound(
        f"There is no file {name[:200]!r} in the folder recipe of this project. Put the prompt there.",
        code="prompt_not_found",
    )


def no_prompt(name: str) -> Invalid:
    """422: the file named is not a prompt."""
    return Invalid(
        f"{name[:200]!r} is not a prompt: a prompt is a regular file of UTF-8 text, not empty and at most 64 "
        "KiB long.",
        code="bad_prompt_file",
    )
