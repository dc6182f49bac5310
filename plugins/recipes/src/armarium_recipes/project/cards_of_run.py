"""What each step of the recipe is run as: a card with its model, its settings and where it runs; or the
reason why it is not run.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from armarium.api import Engine, Library, RecipeJob, ServiceError
from armarium_reading.api import own_prompt
from armarium_recipes.project.saving import SavedSetup
from armarium_recipes.rules.checking import gap_of
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.project import OfferedLater, SkippedStep
from armarium_recipes.schemas.recipe import CardChoice, Step
from armarium_training.api import MIN_LINES, MIN_PAGES

CHECK = "check"
KINDS = {
    CHECK: "check",
    "find-documents-in-a-folder": "find-documents",
    "split-pages": "split-pages",
    "export": "export",
    "publish": "publish",
}
"""Kinds of card by job; every other job is a shipped workflow."""


@dataclass(frozen=True)
class RunCard:
    """A step as a run carries it out, for the pages to which its choice of a model applies."""

    id: str
    steps: list[str]
    job: str
    card: str
    title: str
    workflow_id: str | None = None
    model_override: str | None = None
    provider_override: str | None = None
    layer: str | None = None
    checker: str | None = None
    folder: str | None = None
    formats: list[str] = field(default_factory=list)
    runs_on: str = "this-machine"
    settings: dict[str, Any] = field(default_factory=dict)
    choice: dict[str, Any] | None = None
    """The card it works with; None: the default of the work."""
    folder_ids: list[str] | None = None
    """The folders whose override chose the card; None for the project's choice."""
    uses_cloud: bool = False
    when: dict[str, Any] = field(default_factory=dict)
    download: dict[str, str] | None = None
    """The runtime and model that must be downloaded first."""


@dataclass(frozen=True)
class Missing:
    """A model that a step needs and that is not on this machine."""

    step: str
    card: Card


@dataclass
class Cards:
    """All steps of a recipe, sorted by what is done with them."""

    runs: list[RunCard] = field(default_factory=list)
    skipped: list[SkippedStep] = field(default_factory=list)
    later: list[OfferedLater] = field(default_factory=list)
    missing: list[Missing] = field(default_factory=list)
    unknown: list[tuple[str, str]] = field(default_factory=list)
    """Steps with the id of a card that is no longer known here."""


def cards_of(engine: Engine, library: Library, setup: SavedSetup, known: Mapping[str, Card]) -> Cards:
    """Return the cards for the saved recipe; *known* are the cards of this machine by id."""
    cards = Cards()
    if setup.recipe is None:
        return cards
    allowed = setup.answers is not None and setup.answers.cloud_allowed
    for step in setup.recipe.steps:
        later = words_of_offer(step)
        if later is not None:
            cards.later.append(OfferedLater(step=step.id, when=later))
            continue
        # The card of a check run has settings of its own.
        job = engine.recipe_jobs.get(step.job) if step.job != CHECK else None
        if job is None and not (step.job == CHECK and engine.actions.find("check.run") is not None):
            why = f"No installed plugin does {step.job}. `armarium plugins` lists the installed ones."
            cards.skipped.append(SkippedStep(step=step.id, why=why))
            continue
        gap = gap_of(step)
        if gap is not None:
            fix: Literal["allow-cloud", "choose-model"] = (
                "allow-cloud" if not allowed and "leave" in gap else "choose-model"
            )
            cards.skipped.append(SkippedStep(step=step.id, why=gap, fix=fix))
            continue
        for number, (choice, folders) in enumerate(_choices(setup, step)):
            _add(engine, library, cards, step, job, choice, folders, number, known, allowed)
    return cards


def _choices(setup: SavedSetup, step: Step) -> list[tuple[CardChoice | None, list[str] | None]]:
    """Return the project's choice for *step*, then each other card that an override gives it below folders."""
    own = [override for override in setup.overrides if override.step == step.id]
    project = next((override.card for override in own if override.scope == "project"), step.card)
    choices: list[tuple[CardChoice | None, list[str] | None]] = [(project, None)]
    by_card: dict[str, tuple[CardChoice, list[str]]] = {}
    for override in own:
        if override.scope == "folder" and override.folder_id is not None and override.card != project:
            by_card.setdefault(override.card.id, (override.card, []))[1].append(override.folder_id)
    return choices + list(by_card.values())


def _add(
    engine: Engine,
    library: Library,
    cards: Cards,
    step: Step,
    job: RecipeJob | None,
    choice: CardChoice | None,
    folders: list[str] | None,
    number: int,
    known: Mapping[str, Card],
    allowed: bool,
) -> None:
    card = known.get(choice.id) if choice is not None else None
    if choice is not None and card is None:
        cards.unknown.append((step.id, choice.id))
        return
    far = step.uses_cloud if card is None else card.runs_where == "provider"
    if far and not allowed:
        why = (
            f"{card.name if card is not None else step.runs_on} runs at a provider, and pages may "
            "not leave this machine."
        )
        cards.skipped.append(SkippedStep(step=step.id, why=why, fix="allow-cloud"))
        return
    work = job.name if job is not None else "Check"
    run = RunCard(
        id=step.id if number == 0 else f"{step.id}-{number + 1}",
        steps=[step.id],
        job=step.job,
        card=_kind(step, card),
        title=f"{work}: {card.name}" if card is not None and card.name != work else work,
        runs_on=step.runs_on if card is None else card.place,
        choice=choice.model_dump(mode="json") if choice is not None else None,
        folder_ids=folders,
        uses_cloud=far,
        when=step.when.model_dump(exclude_none=True),
    )
    if card is not None and not card.installed and _is_elsewhere(card):
        cards.missing.append(Missing(step.id, card))
        if card.download is not None:
            run = replace(run, download=card.download.model_dump())
    elif card is not None and card.availability == "not_here":
        cards.skipped.append(SkippedStep(step=step.id, why=card.availability_words, fix="choose-model"))
        return
    try:
        run = _with_settings(engine, library, run, step, job, card)
    except ServiceError as refusal:
        takes_model = job is not None and (job.model_setting is not None or job.uses_llm)
        cards.skipped.append(
            SkippedStep(step=step.id, why=refusal.detail, fix="choose-model" if takes_model else None)
        )
        return
    cards.runs.append(run)


def _is_elsewhere(card: Card) -> bool:
    """Return whether the model must still be brought to this machine: downloaded, or installed by hand as
    models of the hub are.
    """
    return card.availability == "download" or (
        card.source == "model-hub" and card.availability == "elsewhere"
    )


def _kind(step: Step, card: Card | None) -> str:
    if step.job == "read-a-line" and card is not None and card.provider is not None:
        return "read-lines"
    return KINDS.get(step.job, "workflow")


def _with_settings(
    engine: Engine, library: Library, run: RunCard, step: Step, job: RecipeJob | None, card: Card | None
) -> RunCard:
    """Return *run* with all settings of its work; raises the refusal of the work if it cannot be done here."""
    if job is None:
        return _check_card(library, run, step, card)
    fields = job.settings.model_fields
    values = {**step.settings}
    changes: dict[str, Any] = {}
    if card is not None and card.provider is not None and "provider" in fields:
        values |= {"provider": card.provider, "model": card.model}
        changes = {"provider_override": card.provider, "model_override": card.model}
    elif card is not None and card.reader is not None and job.provider_setting in fields:
        values |= {str(job.provider_setting): card.reader}
        if job.model_setting in fields:
            values |= {str(job.model_setting): card.model}
        changes = {"provider_override": card.reader, "model_override": card.model}
    if step.prompt is not None and "prompt" in fields:
        values["prompt"] = own_prompt(library, step.prompt)
    if "pages_may_leave" in fields:
        values["pages_may_leave"] = run.uses_cloud
    if "own_readers" in fields:
        values.setdefault("own_readers", True)
    settings = job.parse(values)
    if run.download is None and (card is None or card.runs_where == "this_mac"):
        # A remote place is not checked: that would look up its name, and a plan makes no requests.
        job.find_placement(engine, library, settings)
    if run.card in ("workflow", "split-pages", "read-lines"):
        changes["workflow_id"] = f"system-{job.id}"
    folder = values.get("folder")
    if run.card in ("export", "publish") and isinstance(folder, str):
        changes |= {"folder": folder, "formats": [str(values.get("format", "pagexml"))]}
    return replace(run, settings=settings.model_dump(mode="json", exclude_unset=True), **changes)


def _check_card(library: Library, run: RunCard, step: Step, card: Card | None) -> RunCard:
    provider, model = "builtin", "agreement"
    if card is not None and card.provider is not None:
        provider, model = card.provider, card.model or ""
    layer = str(step.settings.get("layer", "readings"))
    prompt = own_prompt(library, step.prompt) if step.prompt is not None and provider != "builtin" else None
    settings = {
        "layer": layer,
        "provider": provider,
        "model": model,
        "kind": str(step.settings.get("kind", "transcription")),
        "prompt": prompt,
        "pages_may_leave": run.uses_cloud,
    }
    return replace(run, layer=layer, checker=f"{provider}/{model}", settings=settings)


HOLD_OUT = (
    f"Hold out {MIN_LINES} corrected lines on {MIN_PAGES} pages or more: only on pages held out of its training can the "
    "trained reader be compared with others."
)


def words_of_offer(step: Step) -> str | None:
    """Return the condition, in words, of a step that is only offered later; None for one that Start runs."""
    condition = words_of(step.offered_when.model_dump(exclude_none=True))
    if step.layer == "train":
        return f"{condition or 'Once enough lines are corrected.'} {HOLD_OUT}"
    return condition or None


def words_of(when: Mapping[str, Any]) -> str:
    """Return a condition in words; empty if there is none."""
    parts = []
    if "spreads_detected" in when:
        parts.append(
            "pictures of open books are among the pages" if when["spreads_detected"] else "no open books"
        )
    if "confidence_below" in when:
        parts.append(f"lines were read with a confidence below {when['confidence_below']:g}")
    if "corrected_lines_at_least" in when:
        parts.append(f"{when['corrected_lines_at_least']} lines are corrected")
    return f"Once {' and '.join(parts)}." if parts else ""


def cloud_uses(runs: Sequence[RunCard]) -> dict[str, str]:
    """Return which runs send pages away, and to whom: the card, the provider and the model to which a person agrees."""
    return {run.id: _use_of(run) for run in runs if run.uses_cloud}


def _use_of(run: RunCard) -> str:
    card = (run.choice or {}).get("id")
    model_key = (run.runs_on, card, run.settings.get("provider"), run.settings.get("model"))
    return " ".join(str(part) for part in model_key if part)
