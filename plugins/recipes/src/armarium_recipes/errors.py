"""The refusals of recipes: each says what was wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_recipe_run = missing(
    "recipe run", "The list of runs names them.", code="recipe_run_not_found", key="job_id"
)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def unknown_step(step: str, steps: Sequence[str]) -> Invalid:
    """422: the recipe has no step of this id."""
    return Invalid(
        f"The recipe has no step {step}. Its steps: {_names(steps)}.", code="unknown_step", step=step
    )


def no_folder_named() -> Invalid:
    """422: scope folder without a folder, or scope project with one."""
    return Invalid(
        "An override of scope folder names its folder_id, and one of scope project names none.",
        code="override_without_folder",
    )


def no_folder(folder_id: str) -> Invalid:
    """422: what was named is no folder."""
    return Invalid(f"{folder_id} is no folder; name one.", code="no_folder", folder_id=folder_id)


def override_elsewhere(folder_id: str) -> NotFound:
    """404: an override for a folder that is not there, or lies in the Trash."""
    return NotFound(
        f"There is no folder {folder_id} in this project, or it lies in the Trash. Name one that is there, or leave the "
        "override out.",
        code="folder_not_found",
        folder_id=folder_id,
    )


def override_twice(step: str, where: str) -> Invalid:
    """422: two overrides of one step for the same place."""
    return Invalid(
        f"Two overrides of the step {step} are for {where}; send one.", code="override_twice", step=step
    )


def malformed_recipe(problems: Sequence[Any]) -> Invalid:
    """422: what was sent is no recipe, or holds what a recipe must not."""
    return Invalid(
        " ".join(one.sentence for one in problems[:5]),
        code="malformed_recipe",
        problems=[one.model_dump(mode="json") for one in problems],
    )


def no_such_file(name: str, names: Sequence[str]) -> NotFound:
    """404: no file of the folder recipe that is kept in step with the project."""
    return NotFound(
        f"{name} is no file that the project keeps in step. There are: {_names(names)}.",
        code="recipe_file_not_found",
        name=name,
    )


def nothing_to_decide(name: str) -> Conflict:
    """409: the file and the project agree."""
    return Conflict(f"{name} and the project agree; there is nothing to decide.", code="nothing_to_decide")


def refused_file(name: str, why: str, line: int | None) -> Invalid:
    """422: a file that was edited by hand cannot be taken in."""
    where = f" (line {line})" if line is not None else ""
    return Invalid(
        f"{name} cannot be taken in{where}: {why}", code="recipe_file_refused", name=name, line=line
    )


def not_set_up() -> Invalid:
    """422: the project has no answers and no recipe yet."""
    return Invalid(
        "The project is not set up. Answer the questions of setup and save them first.",
        code="not_set_up",
    )


def start_refused(refusals: Sequence[dict[str, Any]]) -> Invalid:
    """422: the plan of Start has refusals."""
    return Invalid(
        " ".join(one["sentence"] for one in refusals[:5]), code="start_refused", refusals=list(refusals)
    )


def already_started(job_id: str) -> Conflict:
    """409: a run of the recipe is going."""
    return Conflict(
        "The recipe is running already. Wait for it to end, or cancel it first.",
        code="already_started",
        job_id=job_id,
    )


def version_raised(asked: int, there: int) -> Conflict:
    """409: another version of the recipe was saved since the plan was made."""
    return Conflict(
        f"The plan was made of version {asked} of the recipe, and version {there} was saved since. Look at the plan again.",
        code="stale_version",
        version=there,
    )


def yes_of_a_person() -> Forbidden:
    """403: only a person agrees to have pages sent away."""
    return Forbidden(
        "This recipe sends pages to a provider, and no person has agreed to that yet. A person presses Start the first time.",
        code="person_only",
    )


def leave_of_a_person() -> Forbidden:
    """403: only a person says that pages may leave this machine."""
    return Forbidden(
        "Whether pages may leave this machine (cloud_allowed) is for a person to allow, in setup; neither a machine nor an "
        "edited file can. A person can take the file in with project.decide_file.",
        code="person_only",
        named="cloud_allowed",
    )


def not_offered(what: str, choices: Sequence[str]) -> Invalid:
    """422: the plan does not offer this choice."""
    return Invalid(f"The plan does not offer {what}. It offers: {_names(choices)}.", code="not_offered")


def unknown_card(card: str) -> Invalid:
    """422: no card of this id is known here."""
    return Invalid(
        f"No model has the card {card[:200]}. The list of candidates names those that are known.",
        code="unknown_card",
    )


def not_here(name: str, why: str) -> Invalid:
    """422: a card of a model that cannot run on this machine."""
    return Invalid(f"The model {name} cannot be used here. {why}", code="model_not_here")


def wrong_card(card: str, job: str, jobs: Sequence[str]) -> Invalid:
    """422: a card that does not do the step's job."""
    return Invalid(
        f"The model {card} does not do {job}; it does {_names(jobs)}. Choose one that does.",
        code="card_of_another_job",
    )


def unknown_layer(layer: str, can: Sequence[str]) -> Invalid:
    """422: no layer of this name can be added."""
    return Invalid(
        f"{layer} is no layer that can be added. These can: {_names(can)}.",
        code="unknown_layer",
        can=list(can),
    )


def layer_there(layer: str, can: Sequence[str]) -> Invalid:
    """422: the recipe has it already."""
    return Invalid(
        f"The recipe has {layer} already. These can be added: {_names(can)}.",
        code="already_there",
        can=list(can),
    )


def language_there(tag: str) -> Invalid:
    """422: the project has the language already, under this tag or another."""
    return Invalid(f"The recipe has the language {tag} already; leave it out.", code="already_there")


def layer_not_there(layer: str, has: Sequence[str]) -> Invalid:
    """422: what is to be taken out is not there."""
    return Invalid(
        f"The recipe has no {layer} to take out. It has: {_names(has)}.", code="not_there", has=list(has)
    )


def last_language() -> Invalid:
    """422: a project has one language at least."""
    return Invalid(
        "This is the project's only language; add another before taking it out.", code="last_language"
    )


def unknown_language(tag: str) -> Invalid:
    """422: no language has this tag."""
    return Invalid(
        f"{tag} is no tag of a language. A search among the languages finds it by its name.",
        code="unknown_language",
    )
