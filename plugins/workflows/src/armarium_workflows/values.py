"""What goes into a node and comes out: the settings of a recipe job's node, and what an output hands on at a port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armarium.api import Engine, NewJob, Params, RecipeJob
from armarium_reading.api import provider_settings, takes_provider
from armarium_workflows.schemas import NodeIn

READINGS = frozenset({"line_readings", "page_reading"})


def settings_of(
    engine: Engine, node: NodeIn, job: RecipeJob, run: Mapping[str, Any], mapped: Mapping[str, Any]
) -> Params:
    """The settings of a recipe job's node: its config, its inputs, what paths give, and the choice of provider and model.

    The run's choice goes before the node's, and the node's before the workflow's; a model goes with the provider it was
    named with. An input of the run that is called like a setting is that setting where the node says nothing of it.
    Raises Invalid.
    """
    of_run = {name: value for name, value in run["inputs"].items() if name in job.settings.model_fields}
    of_node = {name: value for name, value in node.inputs.items() if name not in job.takes}
    given = {**of_run, **node.config, **of_node}
    provider, model = _choice(node, job, run)
    if provider is not None:
        chosen = provider_settings(engine, job, provider)
        if any(given.get(key) not in (None, value) for key, value in chosen.items()):
            # The model of another provider is not this one's.
            given.pop(job.model_setting or "", None)
        given |= chosen
    if model is not None and job.model_setting is not None:
        given[job.model_setting] = model
    if "pages_may_leave" in job.settings.model_fields:
        given["pages_may_leave"] = run["pages_may_leave"]
    return job.parse({**given, **mapped})


def _choice(node: NodeIn, job: RecipeJob, run: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """The provider and the model that are chosen for a node: by the run, else by the node, else by the workflow."""
    graph, model = run["graph"], None
    for provider, its_model in (
        (run["provider"], run["model"]),
        (node.provider_name, node.model_name),
        (graph.get("provider"), graph.get("model")),
    ):
        if provider is not None and not takes_provider(job, provider):
            # A line reader is for nodes that read lines: others keep what they have.
            continue
        model = model or its_model
        if provider is not None:
            return provider, model
    return None, model


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
