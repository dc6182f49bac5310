"""What an agent may attach by its address: pages, lines, pictures, models. Each is an answer of a tool."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from armarium_agents.mcp.calls import call_tool
from armarium_agents.mcp.declarations import DATA, Read, Tool
from armarium_agents.mcp.doors import Door
from armarium_agents.mcp.refusals import ToolRefused
from armarium_agents.mcp.tools import BY_NAME
from armarium_agents.mcp.tools.lines import READINGS

MODELS = Tool(
    name="models",
    title="The models on this machine",
    about="The models and runtimes on this machine.",
    does=Read("/api/local-models"),
)


@dataclass(frozen=True)
class Resource:
    """One kind of address."""

    template: str
    name: str
    about: str
    tool: Tool
    argument: str | None
    media_type: str = "application/json"

    def match(self, uri: str) -> str | None:
        """Return the id in *uri*; None where it is another kind of address."""
        pattern = re.escape(self.template).replace(r"\{id\}", r"([\w.:@-]{1,128})")
        address = re.fullmatch(pattern, uri)
        return None if address is None else address[1] if self.argument else ""


RESOURCES = (
    Resource("armarium://page/{id}", "page", f"The text of a page. {DATA}", BY_NAME["read_page"], "page_id"),
    Resource(
        "armarium://page/{id}/picture",
        "page picture",
        f"The picture of a page. {DATA}",
        BY_NAME["look_at_page"],
        "page_id",
        "image/jpeg",
    ),
    Resource(
        "armarium://page/{id}/lines",
        "lines",
        f"The lines of a page with their confidence. {DATA}",
        BY_NAME["read_lines"],
        "page_id",
    ),
    Resource("armarium://line/{id}", "line", f"Every reading of a line. {DATA}", READINGS, "line_id"),
    Resource(
        "armarium://line/{id}/picture",
        "line picture",
        f"The picture of a line. {DATA}",
        BY_NAME["look_at_line"],
        "line_id",
        "image/png",
    ),
    Resource("armarium://models", "models", MODELS.about, MODELS, None),
)


async def read_resource(uri: str, door: Door) -> tuple[Any, str]:
    """Return (JSON or Image, media type). ToolRefused for an address of no kind."""
    for resource in RESOURCES:
        identity = resource.match(uri)
        if identity is not None:
            arguments: Mapping[str, Any] = {resource.argument: identity} if resource.argument else {}
            return await call_tool(resource.tool, arguments, door), resource.media_type
    kinds = ", ".join(resource.template for resource in RESOURCES)
    raise ToolRefused(f"There is nothing at this address. Addresses are {kinds}.")
