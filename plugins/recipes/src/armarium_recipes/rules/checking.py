"""Why a recipe cannot run as it is: every reason, step by step, each with its remedy."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePosixPath
from typing import Any

from pydantic import ValidationError

from armarium.api import LAYERS, Engine, Invalid, Library, ServiceError
from armarium_reading.api import own_prompt
from armarium_recipes.cards.ranking import Conditions, rank, refusals_of
from armarium_recipes.cards.sources import cards_for, chosen_ids
from armarium_recipes.knowledge.derived_answers import this_machine
from armarium_recipes.knowledge.jobs import JOBS
from armarium_recipes.knowledge.languages import find_language
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.scripts import find_script
from armarium_recipes.rules.table import FORBIDDEN_WORDS, PIN_FORMS, REMEDIES, RULE_OF
from armarium_recipes.schemas.cards import Card, RefusalKind
from armarium_recipes.schemas.recipe import (
    PROBLEM_ORDER,
    Answers,
    Fix,
    LinesIn,
    Problem,
    ProblemKind,
    Recipe,
    Step,
    When,
)

DEEPEST, MOST_PLACES = 40, 50_000
"""The deepest level and the most places of a recipe that are checked; a larger recipe is refused as a whole."""

Path = tuple[str, ...]
"""The keys that lead to a place in a recipe."""

_WORD = re.compile(r"[A-Z]?[a-z]+|[A-Z]+(?![a-z])|[0-9]+")


def problems_of(
    engine: Engine, library: Library | None, recipe: object, answers: Answers | None = None
) -> list[Problem]:
    """Return every reason why *recipe*, raw as read from a file or a body, cannot run; empty if it can.

    *answers* say whether pages may leave the machine and how much memory it has; without them pages stay, and
    the machine's own memory counts. If it is not a recipe, the only answer is `malformed`.
    """
    if isinstance(recipe, Recipe):
        recipe = recipe.model_dump(mode="json")
    places = list(_places(recipe))
    if len(places) > MOST_PLACES or any(len(path) > DEEPEST for path, _ in places[-1:]):
        # Not checked further: it might contain itself and never end.
        size = f"{DEEPEST} levels and {MOST_PLACES:,} places at most"
        return [_malformed_step(None, f"It is too deep or too large for a recipe: {size}.")]
    wrong = list(_find_forbidden(recipe, places))
    try:
        parsed = Recipe.model_validate(recipe)
    except ValidationError as error:
        return [*wrong, *(_malformed_step(None, sentence) for sentence in _sentences(error))]
    return [
        *wrong,
        *problems_with(cards_for(engine, library, chosen_ids(parsed)), engine, library, parsed, answers),
    ]


def problems_with(
    cards: Iterable[Card], engine: Engine, library: Library | None, recipe: Recipe, answers: Answers | None
) -> list[Problem]:
    """Like `problems_of`, for a valid recipe, with the known cards."""
    problems = [*_find_unknown(recipe), *_find_repeated(recipe.steps)]
    cards_by_id = {card.id: card for card in cards}
    for step in recipe.steps:
        own = list(_Check(engine, library, recipe, step, cards_by_id, answers).problems())
        problems += sorted(own, key=lambda problem: PROBLEM_ORDER.index(problem.kind))
    return problems


def is_only_offered(step: Step) -> bool:
    """Return whether a step waits for something: a condition under which it is offered, or a gap."""
    return step.offered_when != When() or gap_of(step) is not None


def gap_of(step: Step) -> str | None:
    """Return what a step lacks, in words; None if its settings have filled the gap since."""
    rule = RULE_OF.get(step.job)
    if (
        step.gap is not None
        and rule is not None
        and rule.given is not None
        and step.settings.get(rule.given[0])
    ):
        return None
    return step.gap


class _Check:
    """One step, and what it is checked against."""

    def __init__(
        self,
        engine: Engine,
        library: Library | None,
        recipe: Recipe,
        step: Step,
        cards: Mapping[str, Card],
        answers: Answers | None,
    ) -> None:
        self.engine, self.library, self.recipe, self.step, self.cards = engine, library, recipe, step, cards
        self.cloud_allowed = answers is not None and answers.cloud_allowed
        memory_gb = answers.memory_gb if answers is not None else None
        self.memory_gb = memory_gb if memory_gb is not None else this_machine().memory_gb

    def problems(self) -> Iterator[Problem]:
        """Return all problems, in the order in which they are found."""
        step = self.step
        yield from self._form()
        if step.job not in JOBS and step.job not in self.engine.recipe_jobs:
            yield _malformed_step(step.id, f"There is no job called {step.job[:80]}; {_UNKNOWN_JOB}")
            return
        if is_only_offered(step):
            return
        if step.card is not None:
            yield from self._card(self.cards.get(step.card.id))
        else:
            yield from self._without_card()
        card = self.cards.get(step.card.id) if step.card is not None else None
        yield from self._place(card)
        leaves = step.uses_cloud or step.runs_on.startswith("cloud:")
        leaves = leaves or (card is None and "cloud" in (step.model or {}))
        if leaves and not self.cloud_allowed and (card is None or card.runs_where != "provider"):
            yield self._problem(
                "cloud-not-allowed", "It runs on another machine, and pages may not leave this one."
            )

    def _form(self) -> Iterator[Problem]:
        step = self.step
        if step.model is not None and not any(set(step.model) == set(form) for form in PIN_FORMS):
            forms = "; ".join(", ".join(form) for form in PIN_FORMS)
            yield _malformed_step(
                step.id,
                f"It names its model by {', '.join(step.model) or 'nothing'}; it must name it by "
                f"one of: {forms}.",
            )
        if step.prompt is not None:
            yield from self._prompt(step.prompt)
        if step.job in self.engine.recipe_jobs:
            try:
                self.engine.recipe_jobs[step.job].parse(step.settings)
            except Invalid as refusal:
                yield _malformed_step(step.id, refusal.detail)

    def _prompt(self, prompt: str) -> Iterator[Problem]:
        parts = PurePosixPath(prompt.replace("\\", "/")).parts
        outside = (
            not parts
            or prompt.startswith(("/", "\\", "~"))
            or ".." in parts
            or ":" in parts[0]
            or "\0" in prompt
        )
        if outside:
            yield _malformed_step(
                self.step.id, f"Its prompt {prompt[:120]!r} is not a file within the project's folder recipe."
            )
        elif self.library is not None:
            try:
                own_prompt(self.library, prompt)
            except ServiceError as refusal:
                yield _malformed_step(self.step.id, refusal.detail)

    def _card(self, card: Card | None) -> Iterator[Problem]:
        step = self.step
        assert step.card is not None
        if card is None:
            fix: Fix = (
                "download" if step.card.source in ("linereader-repository", "model-hub") else "choose-model"
            )
            yield self._problem(
                "no-model-for-job",
                f"Its model {step.card.id} is no longer here, or never was; choose one that is.",
                fix=fix,
                card=step.card.id,
            )
            return
        if step.job not in card.jobs:
            yield self._problem(
                "no-model-for-job",
                f"{card.name} does not do {step.job}; it does {', '.join(card.jobs)}.",
                card=card.id,
            )
            return
        for refusal in refusals_of(card, **self._conditions()):
            kind = _KINDS[refusal.kind]
            if refusal.kind == "not-here" and card.availability != "not_here":
                # A person may choose a card that the rules refuse; only one that cannot run here is a
                # problem.
                continue
            if refusal.kind == "licence-not-accepted" and step.licence_accepted:
                continue
            yield self._problem(kind, refusal.reason, card=card.id)

    def _place(self, card: Card | None) -> Iterator[Problem]:
        """Return the refusal of work without a model about its place: for example, that the folder of an
        export is missing.
        """
        job = self.engine.recipe_jobs.get(self.step.job)
        if job is None or self.library is None or card is None or card.reader or card.provider:
            return
        try:
            job.find_placement(self.engine, self.library, job.parse(self.step.settings))
        except ServiceError as refusal:
            if refusal.code != "invalid_settings":
                detail = {"job": self.step.job, "card": card.id}
                yield Problem(
                    step=self.step.id, kind="no-model-for-job", sentence=refusal.detail, detail=detail
                )

    def _without_card(self) -> Iterator[Problem]:
        step = self.step
        ranked = rank(self.cards.values(), job=step.job, **self._conditions())
        if not ranked:
            yield self._problem("no-model-for-job", f"Nothing here does {step.job}: {_NOBODY}")
        elif ranked[0].refused is None:
            yield self._problem(
                "no-model-for-job",
                f"It names no model; {ranked[0].name} ({ranked[0].id}) is the first by the rules.",
                card=ranked[0].id,
            )
        else:
            kind, sentence = nearest(ranked)
            yield self._problem(kind, sentence)

    def _conditions(self) -> Conditions:
        """Return what the step's model must suit: the material of the recipe, or of the lines that it is for."""
        suits, applies = self.recipe.suits, self.step.applies_to
        lines_in = applies.lines_in if isinstance(applies, LinesIn) else []
        scripts = [code for code in lines_in if find_script(code) is not None]
        return {
            "scripts": scripts or suits.scripts,
            "languages": [tag for tag in lines_in if tag not in scripts] or suits.languages,
            "materials": suits.material,
            "memory_gb": self.memory_gb,
            "cloud_allowed": self.cloud_allowed,
        }

    def _problem(self, kind: ProblemKind, sentence: str, *, fix: Fix | None = None, **detail: Any) -> Problem:
        remedy = REMEDIES[kind]
        fixes = list(remedy.fixes)
        if fix is not None:
            fixes = [fix, *(other for other in fixes if other != fix)]
        return Problem(
            step=self.step.id,
            kind=kind,
            sentence=sentence,
            fix=fix or remedy.fix,
            fixes=fixes,
            detail={"job": self.step.job, **detail},
        )


_UNKNOWN_JOB = "correct its name, or install the plugin that provides it."
_NOBODY = "no installed plugin offers it. Install one, or remove the step."

_KINDS: Mapping[RefusalKind, ProblemKind] = {
    "no-model-for-job": "no-model-for-job",
    "no-model-for-script": "no-model-for-script",
    "no-model-for-language": "no-model-for-language",
    "no-reader-for-material": "no-reader-for-material",
    "licence-not-accepted": "licence-not-accepted",
    "cloud-not-allowed": "cloud-not-allowed",
    "not-enough-memory": "not-enough-memory",
    "not-here": "no-model-for-job",
}


def nearest(refused: Sequence[Card]) -> tuple[ProblemKind, str]:
    """Return the kind of problem and the reason of that refused card which is closest to being accepted."""
    reasons = [card.refused for card in refused if card.refused is not None]
    best = max(reasons, key=lambda refusal: PROBLEM_ORDER.index(_KINDS[refusal.kind]))
    return _KINDS[best.kind], best.reason


def _malformed_step(step: str | None, sentence: str) -> Problem:
    return Problem(step=step, kind="malformed", sentence=sentence)


def _sentences(error: ValidationError) -> Iterator[str]:
    for fault in error.errors(include_url=False, include_input=False, include_context=False)[:50]:
        place = ".".join(map(str, fault["loc"]))
        yield f"{place[:200]}: {fault['msg']}." if place else f"This is not a recipe: {fault['msg']}."


def _find_unknown(recipe: Recipe) -> Iterator[Problem]:
    """Return unknown purposes, scripts, languages and layers."""
    for purpose in recipe.purposes:
        if purpose not in PURPOSES:
            yield _malformed_step(None, f"purposes: there is no purpose {purpose[:80]!r}.")
    for code in recipe.suits.scripts:
        if find_script(code) is None:
            yield _malformed_step(None, f"suits.scripts: there is no script {code[:80]!r}; {_CODES}")
    for tag in recipe.suits.languages:
        if find_language(tag) is None:
            yield _malformed_step(None, f"suits.languages: there is no language {tag[:80]!r}; {_TAGS}")
    for number, step in enumerate(recipe.steps):
        if step.layer not in LAYERS:
            layers = ", ".join(LAYERS)
            yield _malformed_step(
                step.id, f"steps.{number}.layer: there is no layer {step.layer[:80]!r}; there are {layers}."
            )
        for name in step.applies_to.lines_in if isinstance(step.applies_to, LinesIn) else ():
            if find_script(name) is None and find_language(name) is None:
                yield _malformed_step(
                    step.id,
                    f"steps.{number}.applies_to.lines_in: {name[:80]!r} is neither a script nor a language.",
                )


_CODES = "scripts are named by codes of ISO 15924, such as Latn."
_TAGS = "languages are named by BCP 47 tags, such as la."


def _find_repeated(steps: Sequence[Step]) -> Iterator[Problem]:
    ids = set[str]()
    for step in steps:
        if step.id in ids:
            yield _malformed_step(step.id, f"Two steps have the id {step.id}; each needs its own.")
        ids.add(step.id)


def _places(recipe: object) -> Iterator[tuple[Path, Any]]:
    """Yield every place of *recipe* with the keys that lead to it; stops at the first that is too deep or one
    too many.
    """
    waiting: list[tuple[Path, Any]] = [((), recipe)]
    looked = 0
    while waiting:
        path, value = waiting.pop()
        yield path, value
        looked += 1
        if len(path) > DEEPEST or looked > MOST_PLACES:
            return
        if isinstance(value, Mapping):
            waiting += [((*path, str(key)), inner) for key, inner in value.items()]
        elif isinstance(value, list | tuple):
            waiting += [((*path, str(number)), inner) for number, inner in enumerate(value)]


def _find_forbidden(recipe: object, places: Iterable[tuple[Path, Any]]) -> Iterator[Problem]:
    """Return keys that a recipe must not have, at any depth."""
    for path, value in places:
        for key in value if isinstance(value, Mapping) else ():
            if why := _why_not(str(key), path):
                key_path = ".".join((*path, str(key)))[:200]
                yield _malformed_step(_step_of(recipe, path), f"{key_path}: {why}")


def _why_not(key: str, path: tuple[str, ...]) -> str | None:
    if key == "scripts":
        return None if path == ("suits",) else "scripts may be named in suits only."
    plain = unicodedata.normalize("NFKC", key)
    whole = re.sub(r"[^a-z0-9]", "", plain.lower())
    words = [word.lower() for word in _WORD.findall(plain)]
    for word in (whole, *words):
        term = FORBIDDEN_WORDS.get(word) or FORBIDDEN_WORDS.get(word.removesuffix("s"))
        if term:
            return f"a recipe must not name {term}; remove this key."
    return None


def _step_of(recipe: object, path: tuple[str, ...]) -> str | None:
    """Return the id of the step that contains *path*."""
    if len(path) < 2 or path[0] != "steps" or not isinstance(recipe, Mapping) or not path[1].isdigit():
        return None
    try:
        name = recipe["steps"][int(path[1])]["id"]
    except (KeyError, IndexError, TypeError):
        return None
    return name if isinstance(name, str) else None
