"""What other families may import: runs of workflows, the state of their pages, and the workflows that ship."""

from armarium_workflows.checkpoints import failed_pages as failed_pages
from armarium_workflows.checkpoints import page_counts as page_counts
from armarium_workflows.checkpoints import pages_done as pages_done
from armarium_workflows.queries import find_run as find_run
from armarium_workflows.system import FOLDERS as FOLDERS
from armarium_workflows.system import system_workflows as system_workflows
