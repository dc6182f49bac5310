"""The writes of workflows: saving workflows and chains; starting, stopping and removing runs."""

from armarium_workflows.actions import chains, runs, starts, workflows

ACTIONS = (
    workflows.create,
    workflows.update,
    workflows.delete,
    chains.create,
    chains.update,
    chains.delete,
    starts.execute,
    starts.execute_in_job,
    starts.execute_chain,
    starts.read_again,
    runs.pause,
    runs.resume,
    runs.cancel,
    runs.delete_runs,
    runs.delete_checkpoint,
)
