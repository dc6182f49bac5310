"""What other families may import: the runs of workflows, and those that ship."""

from __future__ import annotations

from armarium_workflows.queries import find_run
from armarium_workflows.system import FOLDERS, system_workflows

__all__ = ["FOLDERS", "find_run", "system_workflows"]
