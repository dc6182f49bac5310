"""From answers to a recipe: apply the rules, choose cards, and mark work that nothing here can do as a gap."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from armarium.api import Engine, Library
from armarium_recipes.cards.ranking import Conditions, cer_of, is_known, order_of, rank, refusal_of
from armarium_recipes.cards.shipped_cards import primary_subtag
from armarium_recipes.cards.sources import cards_for, chosen_ids
from armarium_recipes.knowledge.jobs import JOBS
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.topics import topics
from armarium_recipes.rules.checking import nearest, problems_with
from armarium_recipes.rules.situation import Situation, language_name, understand_answers
from armarium_recipes.rules.table import (
    CARD_REASONS,
    JOINED,
    LAYER_JOBS,
    LEFT_OUT,
    REMEDIES,
    RULE_OF,
    SETTINGS,
    STEPS,
    JoinedWork,
    StepRule,
)
from armarium_recipes.schemas.assembling import Assembled, CloudOption
from armarium_recipes.schemas.cards import Card
from armarium_recipes.schemas.recipe import (
    Answers,
    CardChoice,
    Defaults,
    Direction,
    Fix,
    Gap,
    LinesIn,
    Override,
    ProblemKind,
    Recipe,
    Step,
    Suits,
    When,
)

ALTERNATIVES = 3
"""How many alternative cards are named beside the chosen one."""

OTHER_SCRIPT = (
    "Lines in {script} cannot be separated from the others automatically: use its model for the "
    "folders that contain them."
)


def assemble(
    engine: Engine, library: Library | None, answers: Answers, overrides: Sequence[Override] = ()
) -> Assembled:
    """Return the recipe that the rules give for *answers*, with people's choices for the whole project.

    Every step has its reasons. Work that nothing here can do becomes a step with a gap, which is only
    offered, so that the recipe runs without it. Nothing is written and no request is made; the same answers
    on the same machine give the same recipe. Invalid for an unknown purpose, layer, job, language or script.
    """
    situation = understand_answers(engine, answers)
    cards = cards_for(engine, library, chosen_ids(None, overrides))
    chosen = {override.step: override.card for override in overrides if override.scope == "project"}
    return _Assembly(engine, library, situation, cards, chosen).assemble()


@dataclass
class _Work:
    """A piece of work for the recipe, with the reasons given for it so far."""

    job: str
    reasons: list[str]
    when: When = field(default_factory=When)
    offered_when: When = field(default_factory=When)


@dataclass
class _Assembly:
    """A recipe being assembled."""

    engine: Engine
    library: Library | None
    situation: Situation
    cards: list[Card]
    chosen: Mapping[str, CardChoice]
    gaps: list[Gap] = field(default_factory=list)
    options: list[CloudOption] = field(default_factory=list)
    ranked: dict[tuple[str, tuple[str, ...]], list[Card]] = field(default_factory=dict)
    """Earlier results of `rank`."""

    def assemble(self) -> Assembled:
        steps: list[Step] = []
        works = self._works()
        for work in works:
            steps += self._steps_of(work)
        recipe = self._recipe(steps)
        problems = problems_with(self.cards, self.engine, self.library, recipe, self.situation.answers)
        return Assembled(recipe=recipe, gaps=self.gaps, cloud_options=self.options, problems=problems)

    def _works(self) -> list[_Work]:
        """Return the work that was asked for, that it needs, and that is joined to it, without work for which
        there is nothing to do; in order.
        """
        reasons_by_job = dict(self._collect_jobs())
        left_out: dict[str, str] = {}
        for job in reasons_by_job:
            for none in LEFT_OUT:
                if job in none.jobs and self.situation.holds(none.where, reasons_by_job):
                    left_out[job] = none.because
        works = {job: _Work(job, reasons) for job, reasons in reasons_by_job.items() if job not in left_out}
        for rule in JOINED:
            if rule.job not in left_out and self._is_joined(rule, works):
                work = works.setdefault(rule.job, _Work(rule.job, []))
                work.reasons.append(rule.because)
                work.when, work.offered_when = rule.when, rule.offered_when
        ordered = sorted(works.values(), key=lambda work: _place_of(work.job))
        if left_out and ordered:
            ordered[0].reasons += dict.fromkeys(left_out.values())
        return ordered

    def _collect_jobs(self) -> dict[str, list[str]]:
        """Return each job with the reasons for it: who asked for it, then what needs it."""
        answers = self.situation.answers
        requests = [
            *(
                (job, f"The purpose “{PURPOSES[name].title}” needs it.")
                for name in answers.purposes
                for job in PURPOSES[name].jobs
            ),
            *(
                (job, f"The layer {layer} was asked for.")
                for layer in answers.layers
                for job in LAYER_JOBS[layer]
            ),
            *((job, "It was asked for by name.") for job in answers.jobs),
        ]
        reasons_by_job: dict[str, list[str]] = {}
        for job, because in requests:
            reasons = reasons_by_job.setdefault(job, [])
            if because not in reasons:
                reasons.append(because)
        queue = list(reasons_by_job)
        while queue:
            rule = RULE_OF.get(queue.pop())
            for need in rule.needs if rule is not None else ():
                if need not in reasons_by_job:
                    assert rule is not None
                    reasons_by_job[need] = [f"The step {rule.step} works on its output."]
                    queue.append(need)
        return reasons_by_job

    def _is_joined(self, rule: JoinedWork, works: Mapping[str, _Work]) -> bool:
        trainable = rule.where.trainable_reader and any(
            card.trainable and card.refused is None
            for card in self._rank_cards("read-a-line", self.situation.codes)[:1]
        )
        return self.situation.holds(rule.where, works, trainable=trainable)

    def _steps_of(self, work: _Work) -> list[Step]:
        """Return one step, or, if its model does not know all scripts, another one for each remaining script:
        no step finds out which lines are in it, so those are only offered.
        """
        rule = RULE_OF.get(work.job) or StepRule(work.job, _step_id(work.job), "Work of a plugin.")
        codes = self.situation.codes
        scripts = self._known_scripts(work.job, rule) if rule.by_script else codes
        if scripts == codes:
            return [self._step(work, rule, rule.step, codes)]
        steps = [self._step(work, rule, rule.step, scripts, lines_in=scripts)]
        for code in codes:
            if code not in scripts:
                step = self._step(work, rule, f"{rule.step}-{code.lower()}", [code], lines_in=[code])
                if step.gap is None:
                    self._gap(step, "no-model-for-script", OTHER_SCRIPT.format(script=code), "choose-model")
                steps.append(step)
        return steps

    def _known_scripts(self, job: str, rule: StepRule) -> list[str]:
        """Return the project's scripts that the step's model reads: all if one reads all, else the first that one does."""
        codes = self.situation.codes
        picked = self.chosen.get(rule.step)
        card = next((card for card in self.cards if picked is not None and card.id == picked.id), None)
        if card is not None:
            return [code for code in codes if not card.scripts or code in card.scripts] or codes
        done_codes = [code for code in codes if self._is_done(job, [code], known=True)]
        if self._is_done(job, codes) and (not done_codes or self._is_done(job, codes, known=True)):
            return codes
        first = next((code for code in codes if self._is_done(job, [code])), None)
        return codes if first is None else [first]

    def _step(
        self,
        work: _Work,
        rule: StepRule,
        step_id: str,
        codes: Sequence[str],
        *,
        lines_in: list[str] | None = None,
    ) -> Step:
        ranked = self._rank_cards(work.job, codes)
        card, because = self._choose(step_id, ranked, codes)
        chosen_id = card.id if card is not None else None
        others = [other for other in ranked if other.refused is None and other.id != chosen_id]
        settings, why_set = self._settings(work.job, card)
        reasons = [rule.because, *work.reasons, *because, *why_set]
        step = Step(
            id=step_id,
            job=work.job,
            layer=_layer_of(self.engine, work.job),
            applies_to=LinesIn(lines_in=lines_in) if lines_in else rule.applies_to,  # type: ignore[arg-type]
            when=work.when,
            offered_when=work.offered_when,
            settings=settings,
            reasons=reasons,
            alternatives=[CardChoice(id=card.id, source=card.source) for card in others[:ALTERNATIVES]],
        )
        if card is not None:
            accepted = step_id in self.chosen and not card.open_licence
            step = step.model_copy(update={**card.step_fields(), "licence_accepted": accepted})
            if rule.given is not None:
                self._gap(step, "no-model-for-job", rule.given[1], None)
        else:
            self._gap(step, *self._why_none(work.job, ranked))
            self._offer_cloud(step, ranked, codes)
        return step

    def _choose(
        self, step_id: str, ranked: Sequence[Card], codes: Sequence[str]
    ) -> tuple[Card | None, list[str]]:
        """Return a person's choice of a card that still does the work, otherwise the first by the rules; and why."""
        first = ranked[0] if ranked and ranked[0].refused is None else None
        picked = self.chosen.get(step_id)
        if picked is None:
            if first is None:
                return None, []
            whole = list(codes) == self.situation.codes
            return first, [*self._explain_choice(ranked), *(self._unread(first) if whole else [])]
        card = next((card for card in ranked if card.id == picked.id), None)
        if card is not None and card.availability != "not_here":
            return card, [f"{card.name} was chosen by a person."]
        gone_words = f"The model that was chosen before ({picked.id}) is no longer here."
        return first, [gone_words, *(self._explain_choice(ranked) if first is not None else [])]

    def _explain_choice(self, ranked: Sequence[Card]) -> list[str]:
        """Explain why the first card is ranked before the second."""
        first = ranked[0]
        if len(ranked) == 1 or ranked[1].refused is not None:
            return [f"“{first.name}” is the only one here that does it."]
        second, languages = ranked[1], self.situation.languages
        ours, theirs = order_of(first, languages), order_of(second, languages)
        rule = next(rule for rule in CARD_REASONS if ours[rule.at] != theirs[rule.at])
        fields = {"name": first.name, "next": second.name}
        fields |= {"cer": _share(cer_of(first, languages)), "next_cer": _share(cer_of(second, languages))}
        return [rule.because.format(**fields)]

    def _unread(self, card: Card) -> list[str]:
        """Return the languages of the project that the card does not name."""
        covered = {primary_subtag(tag) for tag in card.languages}
        pairs = zip(self.situation.languages, self.situation.names, strict=True)
        lacking = [name for tag, name in pairs if covered and primary_subtag(tag) not in covered]
        return (
            [f"{card.name} was not made for {', '.join(lacking)}; check what it reads there."]
            if lacking
            else []
        )

    def _settings(self, job: str, card: Card | None) -> tuple[dict[str, Any], list[str]]:
        declared = self.engine.recipe_jobs.get(job)
        settings: dict[str, Any] = {}
        reasons = []
        for rule in SETTINGS:
            if rule.job != job or declared is None or rule.setting not in declared.settings.model_fields:
                continue
            tag = self._language_for(card)
            settings[rule.setting] = tag if rule.value == "$language" else rule.value
            reasons.append(rule.because.format(language=language_name(tag)))
        return settings, reasons

    def _language_for(self, card: Card | None) -> str:
        """Return the first of the project's languages that the model names, otherwise the first language."""
        covered = {primary_subtag(tag) for tag in card.languages} if card is not None else set()
        tags = self.situation.languages
        return next((tag for tag in tags if primary_subtag(tag) in covered), tags[0])

    def _rank_cards(self, job: str, codes: Sequence[str]) -> list[Card]:
        key = (job, tuple(codes))
        if key not in self.ranked:
            self.ranked[key] = rank(self.cards, job=job, **self._conditions(codes))
        return self.ranked[key]

    def _is_done(self, job: str, codes: Sequence[str], *, known: bool = False) -> bool:
        """Return whether the rules accept a model for it; *known*: one of known quality."""
        first = [card for card in self._rank_cards(job, codes)[:1] if card.refused is None]
        return any(not known or is_known(card, self.situation.languages) for card in first)

    def _conditions(self, codes: Sequence[str]) -> Conditions:
        return {
            "scripts": codes,
            "languages": self.situation.languages,
            "materials": self.situation.pictures,
            "memory_gb": self.situation.memory_gb,
            "cloud_allowed": self.situation.answers.cloud_allowed,
        }

    def _why_none(self, job: str, ranked: Sequence[Card]) -> tuple[ProblemKind, str, Fix | None]:
        if ranked:
            kind, sentence = nearest(ranked)
            return kind, sentence, REMEDIES[kind].fix
        declared = self.engine.recipe_jobs.get(job)
        if declared is None:
            name = topics()[job].title if job in JOBS else job
            return "no-model-for-job", f"No installed plugin offers “{name}”.", None
        return (
            "no-model-for-job",
            (
                "It needs a language model, and no provider of one is set up: add a server on this "
                "machine, or a service."
            ),
            "choose-cloud",
        )

    def _gap(self, step: Step, kind: ProblemKind, sentence: str, fix: Fix | None) -> None:
        step.gap = sentence
        self.gaps.append(Gap(step=step.id, job=step.job, kind=kind, sentence=sentence, fix=fix))

    def _offer_cloud(self, step: Step, ranked: Sequence[Card], codes: Sequence[str]) -> None:
        """Return models of providers that could do it if pages were allowed to leave."""
        for card in ranked:
            allowed: Conditions = {**self._conditions(codes), "cloud_allowed": True}
            if card.runs_where == "provider" and card.provider and refusal_of(card, **allowed) is None:
                option = CloudOption(
                    step=step.id,
                    job=step.job,
                    card=card.id,
                    name=card.name,
                    provider=card.provider,
                    cost_per_page=card.cost_per_page,
                )
                self.options.append(option)

    def _recipe(self, steps: list[Step]) -> Recipe:
        answers, situation = self.situation.answers, self.situation
        purposes = [PURPOSES[name].title for name in dict.fromkeys(answers.purposes)]
        about = f"{', '.join(situation.names)} in {', '.join(script.name for script in situation.scripts)}"
        materials = list(dict.fromkeys(answers.materials))
        topics_named = [*dict.fromkeys(answers.purposes), *situation.languages, *situation.codes, *materials]
        return Recipe(
            id="-".join(topics_named).lower()[:200],
            title=f"{', '.join(purposes)}: {about} ({', '.join(materials)})",
            suits=Suits(scripts=situation.codes, languages=list(situation.languages), material=materials),
            purposes=list(dict.fromkeys(answers.purposes)),
            defaults=self._defaults(),
            steps=steps,
        )

    def _defaults(self) -> Defaults:
        """Return one direction for all if all scripts share it, and the fonts of the scripts."""
        by_script = {code.title(): direction for code, direction in self.situation.answers.directions.items()}
        directions: dict[Direction, None] = {}
        for script in self.situation.scripts:
            direction = by_script.get(script.code, script.direction)
            if direction is not None:
                directions[direction] = None
        shared = next(iter(directions)) if len(directions) == 1 else None
        fonts = [script.font for script in self.situation.scripts if script.font]
        if shared == "ttb-lr":
            return Defaults(direction="ttb", line_position="left-to-right", fonts=list(dict.fromkeys(fonts)))
        return Defaults(direction=shared, fonts=list(dict.fromkeys(fonts)))


_ORDER = {rule.job: place for place, rule in enumerate(STEPS)}
_OUTPUT = next(place for place, rule in enumerate(STEPS) if rule.job == "train-a-model")


def _place_of(job: str) -> float:
    """Return the position of a job among the steps; work of a plugin comes before training and output."""
    return _ORDER.get(job, _OUTPUT - 0.5)


def _layer_of(engine: Engine, job: str) -> str:
    declared = engine.recipe_jobs.get(job)
    return JOBS[job].layer if job in JOBS else declared.layer if declared is not None else "knowledge"


def _step_id(job: str) -> str:
    """Return the id of a step for a job that the rules do not know."""
    plain = "".join(sign if sign.isascii() and sign.isalnum() else "-" for sign in job.lower()).strip("-")
    return plain[:64] or "step"


def _share(cer: float | None) -> str:
    return "no figure is known" if cer is None else f"{cer * 100:.1f} of 100 characters"
