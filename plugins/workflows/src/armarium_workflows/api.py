"""What other families may import: runs of workflows, the state of their pages, and the workflows that ship."""

from __future__ import annotations

from armarium_workflows.checkpoints import failed_pages, page_counts, pages_done
from armarium_workflows.queries import find_run
from armarium_workflows.system import FOLDERS, system_workflows

__all__ = [
    "FOLDERS",
    "failed_pages",
    "find_run",
    "page_counts",
    "pages_done",
    "system_workflows",
]
