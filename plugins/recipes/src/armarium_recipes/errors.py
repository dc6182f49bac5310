"""The refusals of recipes: each says what was wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_recipe_run = missing(
    "recipe run", "List the runs to find the right id.", code="recipe_run_not_found", key="job_id"
)


unknown_step = Invalid.saying(
    "unknown_step", "The recipe has no step {step}. Its steps: {steps}.", step="step"
)


def reads_no_lines(step: str, reading: Sequence[str]) -> Invalid:
    """422: only steps that read lines can leave out those that a person made or checked."""
    can = f" It can be asked of: {', '.join(reading)}." if reading else ""
    return Invalid(
        f"The step {step} does not read lines, so it cannot leave out those that a person made or checked; name it "
        f"in redo to repeat it.{can}",
        code="reads_no_lines",
        step=step,
    )


no_folder_named = Invalid.saying(
    "override_without_folder",
    "An override of scope folder must name a folder_id, and one of scope project must not.",
)
no_folder = Invalid.saying("no_folder", "{folder_id} is not a folder; name one.", folder_id="folder_id")
override_elsewhere = NotFound.saying(
    "folder_not_found",
    "There is no folder {folder_id} in this project, or it is in the Trash. Name a live one, or leave the "
    "override out.",
    folder_id="folder_id",
)
override_twice = Invalid.saying(
    "override_twice", "There are two overrides of the step {step} for {where}; send only one.", step="step"
)


def malformed_recipe(problems: Sequence[Any]) -> Invalid:
    """422: the recipe is malformed, or has a key that recipes must not have."""
    return Invalid(
        " ".join(problem.sentence for problem in problems[:5]),
        code="malformed_recipe",
        problems=[problem.model_dump(mode="json") for problem in problems],
    )


no_such_file = NotFound.saying(
    "recipe_file_not_found", "The project synchronises no file {name}. There are: {names}.", name="name"
)
nothing_to_decide = Conflict.saying(
    "nothing_to_decide", "{name} and the project agree; there is nothing to decide."
)


def refused_file(name: str, why: str, line: int | None) -> Invalid:
    """422: a file edited by hand cannot be taken in."""
    on_line = f" (line {line})" if line is not None else ""
    return Invalid(
        f"{name} cannot be taken in{on_line}: {why}", code="recipe_file_refused", name=name, line=line
    )


not_set_up = Invalid.saying(
    "not_set_up", "The project is not set up. Answer the questions of setup and save them first."
)


def start_refused(refusals: Sequence[dict[str, Any]]) -> Invalid:
    """422: the plan of Start has refusals."""
    return Invalid(
        " ".join(refusal["sentence"] for refusal in refusals[:5]),
        code="start_refused",
        refusals=list(refusals),
    )


already_started = Conflict.saying(
    "already_started",
    "The recipe is already running. Wait for it to end, or cancel it first.",
    job_id="job_id",
)
version_raised = Conflict.saying(
    "stale_version",
    "The plan was made from version {asked} of the recipe, but version {there} has been saved since. Look "
    "at the plan again.",
    version="there",
)
yes_of_a_person = Forbidden.saying(
    "person_only",
    "This recipe sends pages to a provider, and no person has agreed to that yet. A person must press "
    "Start the first time.",
)


def leave_of_a_person() -> Forbidden:
    """403: only a person can decide that pages may leave this machine."""
    return Forbidden(
        "Only a person can allow pages to leave this machine (cloud_allowed), in setup; neither a "
        "machine nor an edited file can. A person can take the file in with project.decide_file.",
        code="person_only",
        named="cloud_allowed",
    )


not_offered = Invalid.saying("not_offered", "The plan does not offer {what}. It offers: {choices}.")
unknown_card = Invalid.saying(
    "unknown_card", "No model has the card {card:.200}. List the candidates to find one."
)
not_here = Invalid.saying("model_not_here", "The model {name} cannot be used here. {why}")


wrong_card = Invalid.saying(
    "card_of_another_job", "The model {card} does not do {job}; it does {jobs}. Choose one that does."
)
unknown_layer = Invalid.saying(
    "unknown_layer", "{layer} is not a layer that can be added. These can: {can}.", can="can"
)
layer_there = Invalid.saying(
    "already_there", "The recipe already has {layer}. These can be added: {can}.", can="can"
)
language_there = Invalid.saying("already_there", "The recipe already has the language {tag}; leave it out.")


layer_not_there = Invalid.saying(
    "not_there", "The recipe has no {layer} to remove. It has: {has}.", has="has"
)
last_language = Invalid.saying(
    "last_language", "This is the project's only language; add another before removing it."
)
unknown_language = Invalid.saying(
    "unknown_language", "{tag} is not the tag of a language. Search the languages to find one by its name."
)
unknown_topic = NotFound.saying(
    "topic_not_found", "There is no topic called {id}. The list of topics has the right id.", id="id"
)
unknown_script = Invalid.saying(
    "unknown_script",
    "ISO 15924 has no script {script}. Codes have four letters, such as Latn; search the list of scripts by name.",
    script="script",
)
