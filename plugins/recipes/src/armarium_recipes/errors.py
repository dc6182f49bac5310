"""The refusals of recipes: each says what was wrong and what to do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from armarium.api import Conflict, Forbidden, Invalid, NotFound, missing

unknown_recipe_run = missing(
    "recipe run", "List the runs to find the right id.", code="recipe_run_not_found", key="job_id"
)


def _names(names: Sequence[str]) -> str:
    return ", ".join(names) or "none"


def unknown_step(step: str, steps: Sequence[str]) -> Invalid:
    """422: the recipe has no step with this id."""
    return Invalid(
        f"The recipe has no step {step}. Its steps: {_names(steps)}.", code="unknown_step", step=step
    )


def reads_no_lines(step: str, reading: Sequence[str]) -> Invalid:
    """422: only steps that read lines can leave out those that a person made or checked."""
    can = f" It can be asked of: {_names(reading)}." if reading else ""
    return Invalid(
        f"The step {step} does not read lines, so it cannot leave out those that a person made or checked; name it "
        f"in redo to repeat it.{can}",
        code="reads_no_lines",
        step=step,
    )


def no_folder_named() -> Invalid:
    """422: scope folder without a folder, or scope project with one."""
    return Invalid(
        "An override of scope folder must name a folder_id, and one of scope project must not.",
        code="override_without_folder",
    )


def no_folder(folder_id: str) -> Invalid:
    """422: the document named is not a folder."""
    return Invalid(f"{folder_id} is not a folder; name one.", code="no_folder", folder_id=folder_id)


def override_elsewhere(folder_id: str) -> NotFound:
    """404: an override for a folder that does not exist or is in the Trash."""
    return NotFound(
        f"There is no folder {folder_id} in this project, or it is in the Trash. Name a live one, "
        "or leave the override out.",
        code="folder_not_found",
        folder_id=folder_id,
    )


def override_twice(step: str, where: str) -> Invalid:
    """422: two overrides of one step for the same place."""
    return Invalid(
        f"There are two overrides of the step {step} for {where}; send only one.",
        code="override_twice",
        step=step,
    )


def malformed_recipe(problems: Sequence[Any]) -> Invalid:
    """422: the recipe is malformed, or has a key that recipes must not have."""
    return Invalid(
        " ".join(one.sentence for one in problems[:5]),
        code="malformed_recipe",
        problems=[one.model_dump(mode="json") for one in problems],
    )


def no_such_file(name: str, names: Sequence[str]) -> NotFound:
    """404: no such file in the folder recipe is synchronised with the project."""
    return NotFound(
        f"The project synchronises no file {name}. There are: {_names(names)}.",
        code="recipe_file_not_found",
        name=name,
    )


def nothing_to_decide(name: str) -> Conflict:
    """409: the file and the project agree."""
    return Conflict(f"{name} and the project agree; there is nothing to decide.", code="nothing_to_decide")


def refused_file(name: str, why: str, line: int | None) -> Invalid:
    """422: a file edited by hand cannot be taken in."""
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
    """409: a run of the recipe is in progress."""
    return Conflict(
        "The recipe is running already. Wait for it to end, or cancel it first.",
        code="already_started",
        job_id=job_id,
    )


def version_raised(asked: int, there: int) -> Conflict:
    """409: another version of the recipe was saved after the plan was made."""
    return Conflict(
        f"The plan was made from version {asked} of the recipe, but version {there} has been saved "
        "since. Look at the plan again.",
        code="stale_version",
        version=there,
    )


def yes_of_a_person() -> Forbidden:
    """403: only a person can agree to have pages sent away."""
    return Forbidden(
        "This recipe sends pages to a provider, and no person has agreed to that yet. A person "
        "must press Start the first time.",
        code="person_only",
    )


def leave_of_a_person() -> Forbidden:
    """403: only a person can decide that pages may leave this machine."""
    return Forbidden(
        "Only a person can allow pages to leave this machine (cloud_allowed), in setup; neither a "
        "machine nor an edited file can. A person can take the file in with project.decide_file.",
        code="person_only",
        named="cloud_allowed",
    )


def not_offered(what: str, choices: Sequence[str]) -> Invalid:
    """422: the plan does not offer this choice."""
    return Invalid(f"The plan does not offer {what}. It offers: {_names(choices)}.", code="not_offered")


def unknown_card(card: str) -> Invalid:
    """422: no card with this id is known here."""
    return Invalid(
        f"No model has the card {card[:200]}. List the candidates to find one.",
        code="unknown_card",
    )


def not_here(name: str, why: str) -> Invalid:
    """422: the card of a model that cannot run on this machine."""
    return Invalid(f"The model {name} cannot be used here. {why}", code="model_not_here")


def wrong_card(card: str, job: str, jobs: Sequence[str]) -> Invalid:
    """422: a card that does not do the job of the step."""
    return Invalid(
        f"The model {card} does not do {job}; it does {_names(jobs)}. Choose one that does.",
        code="card_of_another_job",
    )


def unknown_layer(layer: str, can: Sequence[str]) -> Invalid:
    """422: no such layer can be added."""
    return Invalid(
        f"{layer} is not a layer that can be added. These can: {_names(can)}.",
        code="unknown_layer",
        can=list(can),
    )


def layer_there(layer: str, can: Sequence[str]) -> Invalid:
    """422: the recipe already has the layer."""
    return Invalid(
        f"The recipe already has {layer}. These can be added: {_names(can)}.",
        code="already_there",
        can=list(can),
    )


def language_there(tag: str) -> Invalid:
    """422: the project already has the language, under this tag or another."""
    return Invalid(f"The recipe already has the language {tag}; leave it out.", code="already_there")


def layer_not_there(layer: str, has: Sequence[str]) -> Invalid:
    """422: the layer or language to remove is not in the recipe."""
    return Invalid(
        f"The recipe has no {layer} to remove. It has: {_names(has)}.", code="not_there", has=list(has)
    )


def last_language() -> Invalid:
    """422: a project needs at least one language."""
    return Invalid(
        "This is the project's only language; add another before removing it.", code="last_language"
    )


def unknown_language(tag: str) -> Invalid:
    """422: no language has this tag."""
    return Invalid(
        f"{tag} is not the tag of a language. Search the languages to find one by its name.",
        code="unknown_language",
    )
