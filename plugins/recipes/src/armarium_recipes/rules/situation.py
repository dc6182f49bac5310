"""The answers, in the codes that cards use; an unknown code is refused with a sentence."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from armarium.api import LAYERS, Engine, Invalid
from armarium_recipes.knowledge.derived_answers import this_machine
from armarium_recipes.knowledge.jobs import JOBS
from armarium_recipes.knowledge.languages import find_language
from armarium_recipes.knowledge.purposes import PURPOSES
from armarium_recipes.knowledge.scripts import Script, find_script
from armarium_recipes.rules.table import Condition
from armarium_recipes.schemas.recipe import Answers


@dataclass(frozen=True, slots=True)
class Situation:
    """Answers that were understood."""

    answers: Answers
    scripts: tuple[Script, ...]
    languages: tuple[str, ...]
    """Tags as given, with outdated codes of languages replaced by those of the catalogue."""
    names: tuple[str, ...]
    """The names of the languages, in the same order."""
    memory_gb: float | None

    @property
    def codes(self) -> list[str]:
        """Return the codes of the scripts."""
        return [script.code for script in self.scripts]

    @property
    def pictures(self) -> list[str]:
        """Return the kinds of material that are read from pictures."""
        return [material for material in self.answers.materials if material != "text"]

    def holds(self, condition: Condition, jobs: Iterable[str], *, trainable: bool = False) -> bool:
        """Return whether *condition* holds for a recipe of these *jobs*."""
        materials = set(self.answers.materials)
        return (
            (condition.with_job is None or condition.with_job in jobs)
            and (not condition.materials or bool(materials & set(condition.materials)))
            and (not condition.only or materials <= set(condition.only))
            and self.answers.pages >= condition.pages_at_least
            and (trainable or not condition.trainable_reader)
        )


def understand_answers(engine: Engine, answers: Answers) -> Situation:
    """Return *answers* with their codes looked up. Invalid names the first unknown one, and says where to look."""
    for purpose in answers.purposes:
        if purpose not in PURPOSES:
            raise _unknown("purpose", purpose, f"There are: {', '.join(PURPOSES)}.")
    for layer in answers.layers:
        if layer not in LAYERS:
            raise _unknown("layer", layer, f"There are: {', '.join(LAYERS)}.")
    for job in answers.jobs:
        require_job(engine, job)
    scripts = tuple(dict.fromkeys(require_script(code) for code in answers.scripts))
    tags = [require_language(tag) for tag in answers.languages]
    for code in answers.directions:
        if code.title() not in {script.code for script in scripts}:
            raise _unknown(
                "A direction can be given only for one of the scripts in the answers.",
                code,
                "A direction is given for one of the scripts named beside it.",
            )
    languages = tuple(dict.fromkeys(tags))
    memory = answers.memory_gb if answers.memory_gb is not None else this_machine().memory_gb
    names = tuple(language_name(tag) for tag in languages)
    return Situation(answers, scripts, languages, names, memory)


def require_job(engine: Engine, job: str) -> str:
    """Return *job* itself; Invalid if neither the rules nor a plugin know it."""
    if job not in JOBS and job not in engine.recipe_jobs:
        raise _unknown("job", job, f"There are: {', '.join(dict.fromkeys([*JOBS, *engine.recipe_jobs]))}.")
    return job


def require_script(code: str) -> Script:
    """Return the script with this code; Invalid if there is none."""
    script = find_script(code)
    if script is None:
        raise _unknown(
            "script",
            code,
            "Scripts are named by codes of ISO 15924 (Latn, Arab); search the scripts by name to find one.",
        )
    return script


def require_language(tag: str) -> str:
    """Return the tag to work with, its first part as in the catalogue; Invalid if it names no language."""
    language = find_language(tag)
    if language is None or language.code is None:
        raise _unknown(
            "language",
            tag,
            "Languages are named by BCP 47 tags (es, la, de-AT); search the languages by name to find one.",
        )
    _, mark, subtags = tag.replace("_", "-").partition("-")
    return f"{language.code.partition('-')[0]}{mark}{subtags}"


def language_name(tag: str) -> str:
    """Return the usual name of the language."""
    language = find_language(tag)
    return tag if language is None else language.name


def require_materials(materials: Sequence[str], known: Sequence[str]) -> None:
    """Check the kinds of material; Invalid for an unknown one."""
    for material in materials:
        if material not in known:
            raise _unknown("material", material, f"There are: {', '.join(known)}.")


def _unknown(what: str, text: str, hint: str) -> Invalid:
    return Invalid(
        f"There is no {what} {text[:80]!r}. {hint}", code=f"unknown_{what.partition(' ')[0]}", named=text[:80]
    )
