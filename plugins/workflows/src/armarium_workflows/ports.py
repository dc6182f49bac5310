"""The ports of a node: its inputs and outputs with their types, and which output fits which input."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from armarium.api import RecipeJob

BUILT_IN = ("input", "output", "branch", "map", "merge", "transform")
"""Tools that are not recipe jobs and are executed in the step itself."""

OF_MATERIAL = {
    "page_image": "image",
    "rendition": "image",
    "line_readings": "text",
    "page_reading": "text",
    "files": "files",
    "recording": "file",
    "model": "file",
}
"""The type of a port by its material; any other is json."""

OF_SETTING = {
    "string": "text",
    "integer": "number",
    "number": "number",
    "boolean": "boolean",
    "array": "array",
}


@dataclass(frozen=True)
class PortSpec:
    """An input or output of a node. A port with a *material* carries pages that have it."""

    id: str
    type: str
    material: str | None = None
    required: bool = False


_VALUE_IN = PortSpec("value", "any", required=True)
_IN = {
    "input": (),
    "output": (_VALUE_IN,),
    "branch": (_VALUE_IN,),
    "merge": (_VALUE_IN,),
    "transform": (_VALUE_IN,),
    "map": (PortSpec("items", "array", required=True),),
}
_OUT = {
    "input": (PortSpec("pages", "files"),),
    "output": (PortSpec("value", "any"),),
    "branch": (PortSpec("value", "any"),),
    "merge": (PortSpec("value", "any"),),
    "transform": (PortSpec("value", "any"),),
    "map": (PortSpec("items", "array"),),
}


def inputs_of(tool: str, jobs: Mapping[str, RecipeJob]) -> tuple[PortSpec, ...]:
    """Return the inputs of a node of *tool*: for a recipe job, its materials and its settings."""
    if tool in _IN:
        return _IN[tool]
    job = jobs[tool]
    materials = [
        PortSpec(name, OF_MATERIAL.get(name, "json"), name, not job.takes_any or len(job.takes) == 1)
        for name in job.takes
    ]
    settings = [
        PortSpec(setting["key"], OF_SETTING.get(setting["type"], "json"))
        for setting in job.entry()["settings"]
    ]
    return (*materials, *(port_spec for port_spec in settings if port_spec.id not in job.takes))


def outputs_of(tool: str, jobs: Mapping[str, RecipeJob]) -> tuple[PortSpec, ...]:
    """Return the outputs of a node of *tool*: for a recipe job, its materials, and `result`, its result for
    the page.
    """
    if tool in _OUT:
        return _OUT[tool]
    materials = [PortSpec(name, OF_MATERIAL.get(name, "json"), name) for name in jobs[tool].gives]
    return (*materials, PortSpec("result", "json"))


def fits(source: PortSpec, target: PortSpec) -> bool:
    """Return whether an edge may lead from *source* to *target*.

    Pages from `input`, or through a node that takes anything, fit any material: a page has what it has.
    """
    if "any" in (source.type, target.type):
        return True
    if target.material is not None:
        is_same_material = source.material == target.material
        return (
            is_same_material
            or source.id == "pages"
            or (source.material, target.material) == ("line_readings", "page_reading")
        )
    if target.type == "json":
        return source.type in ("json", "array", "number", "boolean", "text")
    return source.type == target.type
