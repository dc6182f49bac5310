"""Runtimes as the core's own plugin: the actions `runtime.install` and `runtime.remove`, and the job that installs."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

from pydantic import Field

from armarium.actions import ActionContext, Params, Route, action
from armarium.errors import Conflict
from armarium.guard.spelling import Spelling
from armarium.jobs.kinds import JobKind
from armarium.messages import Message
from armarium.plugin import Plugin, hookimpl
from armarium.runtimes.commands import CommandStopped
from armarium.runtimes.compute import compute_metadata, set_compute
from armarium.runtimes.routes import router, runtimes

if TYPE_CHECKING:
    from armarium.jobs.context import JobContext


class RuntimeName(Params):
    """Names a runtime."""

    name: Annotated[
        str,
        Field(min_length=1, max_length=80),
        Spelling(r"^[a-z0-9][a-z0-9_.-]*$", "the name of a runtime: small letters, digits, _ . and -"),
    ]


class InstallResult(Message):
    """A runtime that is being installed, or is installed already (then without a job)."""

    name: str
    state: str
    job_id: str | None = None


class RemoveResult(Message):
    """A runtime that was removed."""

    status: str
    name: str
    freed_bytes: int


@action(
    "runtime.install",
    result=InstallResult,
    summary="Install a runtime, the isolated environment of a heavy engine.",
    route=Route("POST", "/api/runtimes/{name}/install", name="install_runtime", refusals=(404, 409)),
    role="owner",
    scope="engine",
    undoable=False,
)
def install_runtime(ctx: ActionContext, params: RuntimeName) -> dict[str, Any]:
    """Queue the installation; nothing to do when the runtime is installed."""
    runtime = ctx.engine.runtimes.get(params.name)
    if ctx.engine.runtimes.is_installed(params.name):
        return {"name": runtime.name, "state": "done", "job_id": None}
    if ctx.engine.settings.local_only:
        raise Conflict(
            f"The engine works offline (SERVICE_LOCAL_ONLY), so the runtime {runtime.name} cannot be downloaded. "
            "Start it without that setting once, install the runtime, and work offline again.",
            code="offline",
        )
    job_id = ctx.enqueue(
        "runtime.install", {"name": runtime.name}, title=f"Install the runtime {runtime.name}"
    )
    return {"name": runtime.name, "state": "waiting", "job_id": job_id}


@action(
    "runtime.remove",
    result=RemoveResult,
    summary="Remove a runtime from this machine.",
    route=Route("DELETE", "/api/runtimes/{name}", name="remove_runtime", refusals=(404, 409)),
    role="owner",
    scope="engine",
    undoable=False,
)
def remove_runtime(ctx: ActionContext, params: RuntimeName) -> dict[str, Any]:
    """Delete the environment; refused while one of its workers is busy."""
    ctx.engine.workers.release_idle()
    if ctx.engine.workers.in_use(runtime=params.name):
        raise Conflict(
            f"The runtime {params.name} is at work. Wait for its jobs to finish, or cancel them, and try again.",
            code="in_use",
        )
    freed = ctx.engine.runtimes.remove(params.name)
    return {"status": "deleted", "name": params.name, "freed_bytes": freed}


def run_install(ctx: JobContext) -> dict[str, Any]:
    """Run the job: create the environment, counting packages. Killed at any instant, it starts again from scratch."""
    name = ctx.args.name if isinstance(ctx.args, RuntimeName) else str(ctx.args["name"])
    logged: set[str] = set()

    def report(done: int, total: int, what: str) -> None:
        ctx.progress(done, total)
        if what not in logged:
            logged.add(what)
            ctx.log("info", what)

    try:
        state = ctx.engine.runtimes.install(name, report, lambda: ctx.stop is not None)
    except CommandStopped:
        ctx.check()
        raise
    return {"name": name, "size_bytes": state.size_bytes}


RUNTIME_INSTALL = JobKind(
    name="runtime.install",
    lane="network",
    summary="Install a runtime, the isolated environment of a heavy engine.",
    run=run_install,
    args=RuntimeName,
    scope="engine",
    needs_network=True,
)


@hookimpl
def armarium_plugin() -> Plugin:
    """The core's plugin for runtimes."""
    return Plugin(
        name="runtimes",
        summary="Isolated environments for heavy engines.",
        prefixes=("runtime", "compute"),
        engine_metadata=compute_metadata,
        actions=(install_runtime, remove_runtime, set_compute),
        jobs=(RUNTIME_INSTALL,),
        routers=(router, runtimes),
    )
