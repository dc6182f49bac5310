"""The refusals of checking, each a sentence a person can act on."""

from __future__ import annotations

from collections.abc import Iterable

from armarium.api import Forbidden, Invalid, NotFound


def unknown_layer(layer: str, known: Iterable[str]) -> Invalid:
    """422: nothing of this project is checked under that name."""
    return Invalid(
        f"There is no layer {layer!r} to check. There is: {', '.join(known)}.", code="unknown_layer"
    )


def unknown_checker(provider: str, model: str, known: Iterable[str]) -> Invalid:
    """422: no checker of that provider and model checks the layer."""
    return Invalid(
        f"There is no checker {provider}/{model} for this layer. There is: {', '.join(known)}, and where a model can "
        "check the layer, any model of the providers that were added.",
        code="unknown_checker",
    )


def takes_no_prompt() -> Invalid:
    """422: a checker that asks no model was given a prompt."""
    return Invalid(
        "The checker builtin/agreement asks no model and takes no prompt; leave prompt_file out, or name a provider and "
        "one of its models as the checker.",
        code="no_prompt",
    )


def nothing_could_be_checked(first: str) -> Invalid:
    """422, of a job: every page was refused."""
    return Invalid(f"No page could be checked. The first: {first}", code="all_failed")


def unknown_target(layer: str, target_id: str) -> NotFound:
    """404: the layer has no such proposal."""
    return NotFound(
        f"There is no proposal {target_id} in the layer {layer}. The layer readings is checked by the ids of readings, claims by those of statements, entities by those of entities.",
        code="unknown_target",
        target_id=target_id,
    )


def other_segment(segment_id: str, target_id: str) -> Invalid:
    """422: a verdict names a segment that its reading is not of."""
    return Invalid(f"The reading {target_id} is not of the segment {segment_id}.", code="other_segment")


def unknown_episode(episode_id: str) -> NotFound:
    """404: the ledger has no such call."""
    return NotFound(
        f"There is no episode {episode_id} in the ledger of this project. Name the call of a model that gave the verdict, or "
        "none.",
        code="unknown_episode",
        episode_id=episode_id,
    )


def unknown_run(job_id: str) -> NotFound:
    """404: no check run has this id."""
    return NotFound(
        f"There is no check run {job_id} in this project. Name a run by the job id that its start answered.",
        code="unknown_run",
    )


def nothing_to_check() -> Invalid:
    """422: no page lies in the scope."""
    return Invalid("No page lies at or beneath what scope_ids name.", code="no_pages")


def of_a_run_alone() -> Forbidden:
    """403: a person would have a run's correction written down as a machine's."""
    return Forbidden(
        "Only a check run writes corrected readings with its verdicts; give your verdict as your own.",
        code="run_only",
    )


def corrects_nothing() -> Invalid:
    """422: a correction, or what replaces the proposal, beside a verdict that is not correct."""
    return Invalid(
        "Only the verdict correct has a correction or a replacement; leave it out or say correct.",
        code="no_correction",
    )
