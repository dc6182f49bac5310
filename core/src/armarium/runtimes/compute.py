"""How much of this machine the engine may use, and which device: saved choice, environment, effective values."""

from __future__ import annotations

import platform
import subprocess
from contextlib import suppress
from functools import lru_cache
from pathlib import Path
from shutil import which
from typing import TYPE_CHECKING, Any, Literal

from sqlalchemy import Column, Connection, MetaData, Table, Text, select

from armarium.actions import ActionContext, Params, Route, action
from armarium.errors import Invalid
from armarium.messages import Message
from armarium.runtimes.workers import Compute, compute_for
from armarium.store.tables import tracked

if TYPE_CHECKING:
    from armarium.engine import Engine

Priority = Literal["balanced", "fast", "background"]
Origin = Literal["setting", "environment", "default"]
ONLY_ROW = "engine"

compute_metadata = MetaData()

compute_settings = Table(
    "compute_setting",
    compute_metadata,
    Column("id", Text, primary_key=True),
    Column("priority", Text),
    Column("device", Text),
    Column("updated_at", Text, nullable=False),
    info=tracked(label="compute setting", monotonic=("updated_at",)),
)
"""One row, `engine`: priority and device; null means not chosen."""


class ComputeParams(Params):
    """Priority and device of heavy work. An absent field stays as it is; device null is auto."""

    priority: Priority | None = None
    device: Literal["auto", "cpu", "gpu"] | None = None


class ComputeEffective(Message):
    """What applies now, environment settings included. `threads` is a count."""

    priority: Priority
    device: Literal["cpu", "gpu"]
    device_name: str
    threads: int
    priority_from: Origin
    device_from: Origin


class ComputeSettings(Message):
    """The saved choice and its effect."""

    priority: Priority
    device: Literal["auto", "cpu", "gpu"]
    effective: ComputeEffective


@lru_cache(maxsize=1)
def gpu_name() -> str | None:
    """Return the name of this machine's GPU, or None. Queries the driver, never a heavy library, and only once."""
    if platform.system() == "Darwin":
        return "Apple GPU" if platform.machine() == "arm64" else None
    if not Path("/proc/driver/nvidia/version").exists() and which("nvidia-smi") is None:
        return None
    return next(iter(_ask("nvidia-smi", "--query-gpu=name", "--format=csv,noheader")), None)


@lru_cache(maxsize=1)
def cpu_name() -> str:
    """Return the name of this machine's processor."""
    if platform.system() == "Darwin":
        return (
            next(iter(_ask("sysctl", "-n", "machdep.cpu.brand_string")), None)
            or platform.processor()
            or "CPU"
        )
    with suppress(OSError):
        for line in Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines():
            key, _, value = line.partition(":")
            if key.strip() in ("model name", "Hardware") and value.strip():
                return value.strip()
    return platform.processor() or platform.machine() or "CPU"


def _ask(*command: str) -> list[str]:
    """Return the lines that a program of the system answers; none without it."""
    try:
        completed = subprocess.run(command, capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return []
    return [line.strip() for line in completed.stdout.splitlines() if line.strip()]


def state_of(engine: Engine) -> ComputeSettings:
    """Return the current compute settings of *engine*; one small read."""
    with engine.state.read() as conn:
        return _state(engine, conn)


def compute_of(engine: Engine) -> Compute:
    """Return what a worker started now may use."""
    applies = state_of(engine).effective
    return compute_for(applies.priority, applies.device)


def _state(engine: Engine, conn: Connection) -> ComputeSettings:
    """Return what applies: environment settings first, then the saved choice, then the default."""
    row = conn.execute(select(compute_settings).where(compute_settings.c.id == ONLY_ROW)).first()
    saved_priority, saved_device = (row.priority, row.device) if row is not None else (None, None)
    settings = engine.settings
    priority: Priority = settings.compute_priority or saved_priority or "balanced"
    gpu = None if (settings.compute_device or saved_device) == "cpu" else gpu_name()
    device: Literal["cpu", "gpu"] = "cpu" if gpu is None else "gpu"
    return ComputeSettings(
        priority=saved_priority or "balanced",
        device=saved_device or "auto",
        effective=ComputeEffective(
            priority=priority,
            device=device,
            device_name=gpu or cpu_name(),
            threads=compute_for(priority, device).threads,
            priority_from=_origin(settings.compute_priority, saved_priority),
            device_from=_origin(settings.compute_device, saved_device),
        ),
    )


def _origin(environment: str | None, saved: str | None) -> Origin:
    return "environment" if environment else "setting" if saved else "default"


@action(
    "compute.set",
    result=ComputeSettings,
    summary="Choose how much of this machine the engine may use, and on which device",
    route=Route("PUT", "/api/settings/compute", refusals=()),
    role="owner",
    scope="engine",
)
def set_compute(ctx: ActionContext, p: ComputeParams) -> dict[str, Any]:
    """A GPU is refused (422) where there is none. Null resets a field to its default."""
    if not p.model_fields_set:
        raise Invalid("Neither priority nor device was named; send at least one.", code="invalid_request")
    if p.device == "gpu" and gpu_name() is None:
        raise Invalid("This machine has no GPU the engine can use; choose auto or cpu.", code="no_gpu")
    row = ctx.conn.execute(select(compute_settings).where(compute_settings.c.id == ONLY_ROW)).first()
    values: dict[str, Any] = {"updated_at": ctx.now}
    values |= {name: getattr(p, name) for name in ("priority", "device") if name in p.model_fields_set}
    if row is None:
        ctx.conn.execute(compute_settings.insert().values(id=ONLY_ROW, **values))
    else:
        ctx.conn.execute(compute_settings.update().where(compute_settings.c.id == ONLY_ROW).values(**values))
    ctx.target(ONLY_ROW)
    return _state(ctx.engine, ctx.conn).model_dump()
