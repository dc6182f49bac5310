"""Every tool, in the order in which an agent is shown them."""

from __future__ import annotations

from armarium_agents.mcp.declarations import Tool
from armarium_agents.mcp.tools.lines import LINES
from armarium_agents.mcp.tools.names import NAMES
from armarium_agents.mcp.tools.pages import PAGES
from armarium_agents.mcp.tools.work import WORK

TOOLS: tuple[Tool, ...] = (*PAGES, *LINES, *NAMES, *WORK)
BY_NAME = {tool.name: tool for tool in TOOLS}
