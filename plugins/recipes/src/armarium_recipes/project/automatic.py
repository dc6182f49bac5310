"""What happens automatically when pages are added and when a reading is corrected."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from armarium_recipes.project.arrivals import runs_by_itself
from armarium_recipes.project.plan import Plan

if TYPE_CHECKING:
    from armarium.api import Engine

CORRECTIONS = (
    ("embeds", "Vectors", "make-a-vector", "Vectors of lines whose text was changed are made again."),
    (
        "write-to-folder",
        "Files in synced folders",
        None,
        "Files of pages whose text was changed are written again.",
    ),
)
"""Work of other families that follows a correction: the kind of job, its name, the recipe job it carries out,
and the reason.
"""


def automatic(engine: Engine, plan: Plan) -> dict[str, Any]:
    """Return the entries of both lists, for a project as described by *plan*."""
    return {"on_add": list(_on_add(plan)), "on_correction": list(_on_correction(engine, plan))}


def _on_add(plan: Plan) -> Any:
    why = _why_not(plan)
    for run, _, _ in plan.runs:
        sentence = why or "The purposes of the project apply it to each import automatically."
        yield {"job": run.job, "name": run.title, "runs": why is None, "why": sentence, "steps": run.steps}
    for skipped in plan.cards.skipped:
        yield {"job": None, "name": skipped.step, "runs": False, "why": skipped.why, "steps": [skipped.step]}


def _why_not(plan: Plan) -> str | None:
    """Return why nothing runs after an import; None if the recipe does."""
    stopping = [refusal for refusal in plan.refusals if refusal["kind"] != "nothing-left"]
    if stopping:
        sentence: str = stopping[0]["sentence"]
        return sentence
    if not runs_by_itself(plan.kept):
        return "The project's purposes only offer tools; nothing runs after an import."
    if plan.started is None:
        return "The recipe has not been started yet. After Start, each import runs it."
    if plan.uses and plan.first_yes is None:
        return "No person has agreed yet to a step that sends pages away. Press Start once."
    return None


def _on_correction(engine: Engine, plan: Plan) -> Any:
    for kind, name, job, why in CORRECTIONS:
        if engine.kinds.get(kind) is None:
            continue
        steps = [step for run, _, _ in plan.runs for step in run.steps if run.job == job]
        yield {"job": kind, "name": name, "runs": True, "why": why, "steps": steps}
    yield {
        "job": None,
        "name": "Stale marks",
        "runs": True,
        "why": "Results that rest on a changed text are marked at once; no job is needed.",
        "steps": [],
    }
