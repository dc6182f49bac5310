"""`armarium setup`: five questions with defaults, each of which an option can answer, and the recipe made
from the answers.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Annotated, Any

import typer

from armarium_cli.api import Commands, Refused, Session, Topic, answer, plural, project_session, wants_json

commands = Commands(Topic.work)

MATERIALS = {
    "handwriting": "Handwriting",
    "print": "Print",
    "typescript": "Typescript",
    "text": "Text without pictures",
}
DIRECTIONS = ("ltr", "rtl", "ttb", "ttb-lr")
NEAREST = 5
"""How many languages or scripts are listed when several fit a word."""


@commands.example("setup --purpose search --language es --material handwriting")
def setup(
    purpose: Annotated[list[str] | None, "What the pages are for; may be repeated."] = None,
    material: Annotated[list[str] | None, "handwriting, print, typescript or text; may be repeated."] = None,
    language: Annotated[
        list[str] | None, "By tag, code or name, such as la or Latin; may be repeated."
    ] = None,
    script: Annotated[
        list[str] | None, "By code or name, such as Latn; default: the scripts the languages are written in."
    ] = None,
    direction: Annotated[
        list[str] | None,
        "--direction SCRIPT=DIRECTION: For a script that runs in another direction: ltr, rtl, ttb or ttb-lr.",
    ] = None,
    layer: Annotated[
        list[str] | None, "A layer of work in addition to those of the purposes; may be repeated."
    ] = None,
    pages: Annotated[
        int | None,
        typer.Option(min=0, help="How many pages there will be; default: the pages in the project."),
    ] = None,
    cloud: Annotated[bool | None, "--cloud/--no-cloud: Whether pages may leave this machine."] = None,
    memory: Annotated[
        float | None,
        typer.Option(min=0.1, help="Gigabytes of memory to plan with; default: those of this machine."),
    ] = None,
    yes: Annotated[bool, "--yes, -y: Ask nothing; use defaults for options that are not given."] = False,
    dry_run: Annotated[bool, "Show the recipe and save nothing."] = False,
) -> None:
    """Describe the pages and what they are for, and get a recipe with the reasons for each step."""
    asking = not (yes or wants_json()) and at_a_terminal()
    with project_session() as session:
        before = session.get("/api/recipes/project")["answers"] or {}
        questions = _Questions(session, before, asking)
        answers: dict[str, Any] = {
            "purposes": questions.ask_purposes(purpose),
            "materials": questions.ask_materials(material),
            "languages": (languages := questions.ask_languages(language)),
            "scripts": questions.ask_scripts(script, languages),
            "cloud_allowed": questions.ask_cloud(cloud),
        }
        directions = before.get("directions", {})
        still_valid = {script: way for script, way in directions.items() if script in answers["scripts"]}
        answers["directions"] = _directions(direction) if direction else still_valid
        answers["layers"] = layer if layer is not None else before.get("layers", [])
        answers["jobs"] = before.get("jobs", [])
        answers["pages"] = session.get("/api/library/stats")["pages"] if pages is None else pages
        answers["memory_gb"] = before.get("memory_gb") if memory is None else memory
        assembled = session.post("/api/recipes/assemble", answers)
        saved = None
        if not dry_run:
            saved = session.put("/api/recipes/project", {"answers": answers, "recipe": assembled["recipe"]})
            assembled["recipe"] = saved["recipe"] or assembled["recipe"]
    value = {"answers": answers, **assembled, "audit_id": saved and saved.get("audit_id")}
    answer(value, lambda: show_recipe(assembled, saved=saved is not None))


def at_a_terminal() -> bool:
    """Return whether there is a person to ask."""
    return sys.stdin.isatty()


def show_recipe(assembled: dict[str, Any], *, saved: bool) -> None:
    """Show the steps of a recipe with their models and reasons, then what is missing."""
    recipe = assembled["recipe"]
    count = plural(len(recipe["steps"]), "step")
    typer.echo(f"{recipe['title']}, version {recipe['version']}: {count}.")
    for number, step in enumerate(recipe["steps"], 1):
        model = f" with {step['card']['id']}" if step.get("card") else ""
        on_machine = "" if step["runs_on"] == "this-machine" else f", on {step['runs_on']}"
        offered = (
            ", offered later" if any(value is not None for value in step["offered_when"].values()) else ""
        )
        typer.echo(f"{number:3}. {step['job']}{model}{on_machine}{offered}")
        for reason in step["reasons"]:
            typer.echo(f"     {reason}")
        if step.get("gap"):
            typer.echo(f"     lacking: {step['gap']}")
    for problem in assembled["problems"]:
        typer.echo(f"Cannot run: {problem['sentence']}")
    typer.echo("Saved. Look at what would run: armarium plan" if saved else "Nothing was saved.")


@dataclass
class _Questions:
    """The questions of setup: each is answered by an option, by a person if *asking*, or by what was answered *before*."""

    session: Session
    before: dict[str, Any]
    asking: bool

    def ask_purposes(self, option: Sequence[str] | None) -> list[str]:
        listed = self.session.get("/api/recipes/purposes")["items"]
        offered = {purpose["id"]: purpose["title"] for purpose in listed}
        default = self.before.get("purposes") or [next(iter(offered))]
        return self._choose("What are the pages for?", "purpose", offered, option, default)

    def ask_materials(self, option: Sequence[str] | None) -> list[str]:
        default = self.before.get("materials") or ["handwriting"]
        return self._choose("What are the pages?", "material", MATERIALS, option, default)

    def _choose(
        self,
        question: str,
        noun: str,
        offered: dict[str, str],
        option: Sequence[str] | None,
        default: list[str],
    ) -> list[str]:
        """Return a choice by id or by number; Refused if it is not offered."""

        def parse_choice(words: Sequence[str]) -> list[str]:
            ids = list(offered)
            chosen = []
            for word in words:
                numbered = (
                    ids[int(word) - 1] if word.isdecimal() and 1 <= int(word) <= len(ids) else word.lower()
                )
                if numbered not in offered:
                    raise Refused(f"{word!r} is not a {noun}; there are: {', '.join(ids)}.")
                chosen.append(numbered)
            return list(dict.fromkeys(chosen))

        if option:
            return parse_choice(option)
        if not self.asking:
            return default
        typer.echo(question)
        for number, (name, title) in enumerate(offered.items(), 1):
            typer.echo(f"{number:3}. {title} ({name})")
        return _ask_until_understood("Numbers or names, separated by commas", default, parse_choice)

    def ask_languages(self, option: Sequence[str] | None) -> list[str]:
        def parse_languages(words: Sequence[str]) -> list[str]:
            return list(dict.fromkeys(_language(self.session, word) for word in words))

        default = self.before.get("languages") or []
        if option:
            return parse_languages(option)
        if self.asking:
            question = "In which languages? Names or tags, separated by commas"
            return _ask_until_understood(question, default, parse_languages)
        if not default:
            raise Refused("Which language? Name it with --language, by tag or name, as in --language la.")
        return default

    def ask_scripts(self, option: Sequence[str] | None, languages: Sequence[str]) -> list[str]:
        def parse_scripts(words: Sequence[str]) -> list[str]:
            return list(dict.fromkeys(_script(self.session, word) for word in words))

        if option:
            return parse_scripts(option)
        previous = self.before.get("scripts") if self.before.get("languages") == list(languages) else None
        default = previous or _usual_scripts(self.session, languages)
        return _ask_until_understood("In which scripts?", default, parse_scripts) if self.asking else default

    def ask_cloud(self, option: bool | None) -> bool:
        default = bool(self.before.get("cloud_allowed", False))
        if option is not None or not self.asking:
            return default if option is None else option
        return typer.confirm(
            "May pages be sent to models of providers outside this machine?", default=default
        )


def _ask_until_understood(
    question: str, default: list[str], parse: Callable[[list[str]], list[str]]
) -> list[str]:
    """Ask again until the answer is understood; an empty line means the default."""
    hint = f" [{', '.join(default)}]" if default else ""
    while True:
        typed = typer.prompt(f"{question}{hint}", default="", show_default=False)
        words = [word.strip() for word in typed.split(",") if word.strip()]
        if not words and default:
            return default
        if not words:
            continue
        try:
            return parse(words)
        except Refused as refused:
            typer.echo(str(refused))


def _language(session: Session, word: str) -> str:
    """Return the tag of the language that *word* names; Refused, listing the nearest ones, if it names none
    or several.
    """
    listed = session.get("/api/recipes/languages", q=word, limit=50)["items"]
    items = [language for language in listed if language["code"]]
    folded = word.casefold()
    first = items[0] if items else None
    if first is None:
        raise Refused(f"No language is called {word!r}; a tag such as de or grc works too.")
    tag = folded.partition("-")[0]
    if first["level"] == "language" and first["code"].casefold() == tag:
        return word if "-" in word else str(first["code"])
    by_name = [language for language in items if language["name"].casefold() == folded]
    codes = {language["code"] for language in by_name} or {language["code"] for language in items}
    if len(codes) == 1 or (by_name and by_name[0]["level"] == "language"):
        return str((by_name or items)[0]["code"])
    near = ", ".join(f"{language['name']} ({language['code']})" for language in items[:NEAREST])
    raise Refused(f"Several languages fit {word!r}: {near}. Name one by its tag.")


def _usual_scripts(session: Session, languages: Sequence[str]) -> list[str]:
    """Return the scripts the tags name (`sr-Latn`), otherwise those the languages are usually written in."""
    codes = []
    for tag in languages:
        scripts = [part for part in tag.split("-")[1:] if len(part) == 4 and part.isalpha()]
        first = session.get("/api/recipes/languages", q=tag.partition("-")[0], limit=1)["items"]
        codes.append(scripts[0].title() if scripts else (first[0]["script"] if first else None) or "Latn")
    return list(dict.fromkeys(codes))


def _script(session: Session, word: str) -> str:
    items = session.get("/api/recipes/scripts", q=word, limit=NEAREST)["items"]
    if not items:
        raise Refused(f"No script is called {word!r}; codes have four letters, such as Latn.")
    folded = word.casefold()
    exact = [script for script in items if folded in (script["code"].casefold(), script["name"].casefold())]
    if len(exact or items) > 1:
        near = ", ".join(f"{script['name']} ({script['code']})" for script in items)
        raise Refused(f"Several scripts fit {word!r}: {near}. Name one by its code.")
    return str((exact or items)[0]["code"])


def _directions(pairs: Sequence[str]) -> dict[str, str]:
    directions = {}
    for pair in pairs:
        script, sign, way = pair.partition("=")
        if not script or not sign or way not in DIRECTIONS:
            raise Refused(
                f"{pair!r} is not a direction; write SCRIPT=DIRECTION, as in Latn=rtl: "
                f"{', '.join(DIRECTIONS)}."
            )
        directions[script.title()] = way
    return directions
