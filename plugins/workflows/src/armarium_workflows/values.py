"""What goes into a node and comes out: the settings of a recipe job's node, and what an output hands on at a port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armarium.api import NewJob, Params, RecipeJob
from armarium_workflows.schemas import NodeIn

READINGS = frozenset({"line_readings", "page_reading"})


def settings_of(node: NodeIn, job: RecipeJob, run: Mapping[str, Any], mapped: Mapping[str, Any]) -> Params:
    """The settings of a recipe job's node: its config, its inputs, what paths give, and the choice of provider and model.

    The run's choice goes before the node's, and the node's before the workflow's. An input of the run that is called like
    a setting is that setting where the node says nothing of it. Raises Invalid.
    """
    of_run = {name: value for name, value in run["inputs"].items() if name in job.settings.model_fields}
    of_node = {name: value for name, value in node.inputs.items() if name not in job.takes}
    given = {**of_run, **node.config, **of_node}
    chosen = (
        (job.provider_setting, run["provider"] or node.provider_name or run["graph"].get("provider")),
        (job.model_setting, run["model"] or node.model_name or run["graph"].get("model")),
    )
    given |= {name: value for name, value in chosen if name is not None and value is not None}
    if "pages_may_leave" in job.settings.model_fields:
        given["pages_may_leave"] = run["pages_may_leave"]
    return job.parse({**given, **mapped})


def at_port(output: Any, port: str) -> Any:
    """What an output hands on at *port*; a recipe job's ports carry all that it says of the page, or the text of it."""
    if not isinstance(output, dict):
        return output
    if port in output:
        return output[port]
    return output.get("text", output) if port in READINGS else output


def job_for_page(one: NewJob, recipe: RecipeJob, settings: Params, page: str, position: int) -> NewJob:
    """*one*, which is of another page with the same settings, for *page*."""
    return replace(
        one,
        args=recipe.arguments([page], settings),
        key=page,
        title=f"{recipe.name}: page {position + 1}",
        subject={"kind": "page", "id": page},
    )
