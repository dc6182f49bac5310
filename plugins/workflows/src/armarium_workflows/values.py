"""The inputs and outputs of a node: the settings for its recipe job, and what an output passes on at a port."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from armarium.api import Engine, NewJob, Params, RecipeJob
from armarium_reading.api import READING_PORTS, provider_settings, takes_provider
from armarium_workflows.schemas.requests import NodeIn


def settings_of(
    engine: Engine, node: NodeIn, job: RecipeJob, run: Mapping[str, Any], mapped: Mapping[str, Any]
) -> Params:
    """Return the settings for a node's recipe job: its config, its inputs, the values of paths, and the
    choice of provider and model.

    The choice of the run takes precedence over that of the node, and that over the workflow's; a model
    belongs to the provider it was named with. An input of the run with the name of a setting is used for it
    if the node does not set it. Raises Invalid.
    """
    of_run = {name: value for name, value in run["inputs"].items() if name in job.settings.model_fields}
    of_node = {name: value for name, value in node.inputs.items() if name not in job.takes}
    settings = {**of_run, **node.config, **of_node}
    provider, model = _choice(node, job, run)
    if provider is not None:
        chosen = provider_settings(engine, job, provider)
        if any(settings.get(key) not in (None, value) for key, value in chosen.items()):
            # A model of another provider cannot be used with this one.
            settings.pop(job.model_setting or "", None)
        settings |= chosen
    if model is not None and job.model_setting is not None:
        settings[job.model_setting] = model
    if "pages_may_leave" in job.settings.model_fields:
        settings["pages_may_leave"] = run["pages_may_leave"]
    return job.parse({**settings, **mapped})


def _choice(node: NodeIn, job: RecipeJob, run: Mapping[str, Any]) -> tuple[str | None, str | None]:
    """Return the provider and model chosen for a node: by the run, otherwise by the node, otherwise by the workflow."""
    graph, model = run["graph"], None
    for provider, its_model in (
        (run["provider"], run["model"]),
        (node.provider_name, node.model_name),
        (graph.get("provider"), graph.get("model")),
    ):
        if provider is not None and not takes_provider(job, provider):
            # A line reader is only for nodes that read lines; others keep their own.
            continue
        model = model or its_model
        if provider is not None:
            return provider, model
    return None, model


def at_port(output: Any, port: str) -> Any:
    """Return what an output passes on at *port*; a recipe job's ports carry its whole result for the page, or
    the text in it.
    """
    if not isinstance(output, dict):
        return output
    if port in output:
        return output[port]
    return output.get("text", output) if port in READING_PORTS else output


def job_for_page(job: NewJob, recipe: RecipeJob, settings: Params, page: str, title: str) -> NewJob:
    """Return *job*, prepared for another page with the same settings, for *page*, which a person knows by *title*."""
    return replace(
        job,
        args=recipe.arguments([page], settings),
        key=page,
        title=f"{recipe.name}: {title}",
        subject={"kind": "page", "id": page},
    )
