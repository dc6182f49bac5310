"""Row 41: what recipes answer while somebody types: languages, scripts, topics, derived facts, assemble and check.

In process, with the answer as JSON bytes, in an engine with every installed family. The first use is measured in a
process of its own, so that nothing is loaded before: seconds and resident memory beyond what the engine has without it.
"""

from __future__ import annotations

import gc
import json
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import orjson
import psutil

from armarium.api import Engine, Library
from benchmarks.harness import Result
from benchmarks.places import running_engine, scratch_folder

ALLOWED = 0.030
FIRST = 0.5
MEMORY = 40.0
REPEATS = 60
WORDS = ("a", "ger", "deu", "latin", "de", "quech", "stan1295", "of the", "ö", "日本", "serbian", "x")
ANSWERS = {"purposes": ["knowledge-graph"], "languages": ["es"], "scripts": ["Latn"], "materials": ["print"]}


def questions(engine: Engine, library: Library) -> dict[str, Callable[[int], Any]]:
    """Return the requests by name; the number varies the words."""
    from armarium_recipes.knowledge.languages import search_languages
    from armarium_recipes.knowledge.scripts import search_scripts
    from armarium_recipes.knowledge.topics import topics_of
    from armarium_recipes.queries.candidates import assemble_recipe, check_recipe
    from armarium_recipes.routes.knowledge import derived_facts
    from armarium_recipes.schemas.assembling import CheckRecipe
    from armarium_recipes.schemas.recipe import Answers

    answers = Answers.model_validate(ANSWERS)
    made: dict[str, Any] = {}

    def assemble(number: int) -> Any:
        with library.db.read() as conn:
            made["recipe"] = assemble_recipe(conn, engine, library, answers)["recipe"]
        return made["recipe"]

    def check(number: int) -> Any:
        recipe = made.get("recipe") or assemble(number)
        with library.db.read() as conn:
            return check_recipe(conn, engine, library, CheckRecipe(recipe=recipe))

    return {
        "languages": lambda number: search_languages(WORDS[number % len(WORDS)], 20),
        "scripts": lambda number: search_scripts(WORDS[number % len(WORDS)], 20),
        "topics": lambda number: topics_of(engine),
        "derived": lambda number: derived_facts(engine, ["Latn", "Arab", "Mong"]),
        "assemble": assemble,
        "check": check,
    }


def measure(rounds: int) -> list[Result]:
    """Measure the p95 of each request after its first use; then the first use of all, in seconds and megabytes."""
    with scratch_folder() as folder, running_engine(folder, None) as (engine, library):
        results = []
        for name, ask in questions(engine, library).items():
            ask(0)
            took = sorted(_seconds(ask, number) for number in range(REPEATS * rounds))
            p95 = took[int(len(took) * 0.95)]
            what = f"{name}, p95 of {len(took)}"
            note = f"median {statistics.median(took) * 1000:.1f} ms"
            results.append(
                Result(41, what, "s", p95, ALLOWED, "allowed", p95 / ALLOWED, limit=1.0, note=note)
            )
    first, warm, memory = _first_use()
    more = max(first - warm, 0.0)
    results.append(
        Result(
            41,
            "first use of all six, beyond a later one",
            "s",
            more,
            FIRST,
            "allowed",
            more / FIRST,
            limit=1.0,
        )
    )
    results.append(
        Result(41, "resident memory after it", "MB", memory, MEMORY, "allowed", memory / MEMORY, limit=1.0)
    )
    return results


def _seconds(ask: Callable[[int], Any], number: int) -> float:
    began = time.perf_counter()
    orjson.dumps(ask(number), default=str)
    return time.perf_counter() - began


def _first_use() -> tuple[float, float, float]:
    """Return the seconds of the first and of the second use, and megabytes gained, in a process of its own."""
    ran = subprocess.run(
        [sys.executable, "-m", "benchmarks.recipe_facts"], capture_output=True, text=True, check=True
    )
    first, warm, memory = json.loads(ran.stdout.strip().splitlines()[-1])
    return first, warm, memory


def _in_a_fresh_process() -> None:
    with scratch_folder() as folder, running_engine(folder, None) as (engine, library):
        asked_questions = questions(engine, library)
        gc.collect()
        before = psutil.Process().memory_info().rss
        first = sum(_seconds(ask, 0) for ask in asked_questions.values())
        gained = psutil.Process().memory_info().rss - before
        warm = sum(_seconds(ask, 0) for ask in asked_questions.values())
    print(json.dumps([first, warm, gained / 1e6]))


if __name__ == "__main__":
    _in_a_fresh_process()
