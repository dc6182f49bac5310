"""Examples of the actions and recipe jobs of core: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from armarium.actions import Example
from armarium.auth.secret_files import enrollment_secret
from armarium.jobs.queue import NewJob, enqueue
from armarium.runtimes.places import MARKER


def secret(ex: Example) -> str:
    return enrollment_secret(ex.engine.settings.state_dir)


def device(ex: Example) -> str:
    return str(ex.run("pair.device", {"code": ex.run("pair.code", {})["code"]})["device_id"])


def folder(ex: Example) -> Path:
    folder = Path(ex.folder) / "chosen"
    folder.mkdir(exist_ok=True)
    return folder


def example_project(ex: Example) -> str:
    path = str(ex.folder / "other.library")
    ex.run("library.create", {"path": path})
    return path


def runtime_install(ex: Example) -> dict[str, Any]:
    return {"name": next(iter(ex.engine.runtimes.list_declared()))}


def runtime_remove(ex: Example) -> dict[str, Any]:
    runtime = ex.engine.runtimes.get(runtime_install(ex)["name"])
    place = ex.engine.runtimes.place_of(runtime)
    place.mkdir(parents=True)
    (place / MARKER).write_text("{}", encoding="utf-8")
    return {"name": runtime.name}


def waiting_job(ex: Example) -> str:
    """Make a job that waits forever: no plugin provides its kind."""
    assert ex.library is not None
    with ex.library.db.write() as conn:
        return enqueue(conn, NewJob("job-example", {}, "An example"), started_by=ex.principal)


def failed_job(ex: Example) -> dict[str, Any]:
    assert ex.library is not None
    job_id = waiting_job(ex)
    with ex.library.db.write() as conn:
        conn.exec_driver_sql(
            "UPDATE job SET state = 'failed', reason = 'It was to fail.', finished_at = created_at WHERE id = ?",
            (job_id,),
        )
    return {"job_id": job_id}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "pair.enroll": lambda ex: {"enrollment_secret": secret(ex), "device_name": "laptop"},
    "pair.code": lambda ex: {"role": "viewer"},
    "pair.device": lambda ex: {"code": ex.run("pair.code", {})["code"], "device_name": "tablet"},
    "pair.rotate_secret": lambda ex: {},
    "token.create": lambda ex: {"name": "night reader", "role": "editor"},
    "token.update": lambda ex: {"token_id": device(ex), "folders": [str(ex.folder)]},
    "token.renew": lambda ex: {"token_id": device(ex)},
    "token.revoke": lambda ex: {"token_id": device(ex)},
    "token.session": lambda ex: {"code": ex.run("pair.code", {})["code"]},
    "session.end": lambda ex: {},
    "sandbox.grant": lambda ex: {"path": str(folder(ex)), "bookmark": "Ym9va21hcms="},
    "library.create": lambda ex: {"path": str(ex.folder / "example.library"), "name": "Example"},
    "library.open": lambda ex: {"path": example_project(ex)},
    "library.release": lambda ex: {"path": example_project(ex)},
    "library.unregister": lambda ex: {"path": example_project(ex)},
    "library.set": lambda ex: {"name": "Renamed", "reading_rule": "relaxed"},
    "compute.set": lambda ex: {"priority": "background", "device": "cpu"},
    "snapshot.take": lambda ex: {},
    "job.pause": lambda ex: {"job_id": waiting_job(ex), "paused": True},
    "job.cancel": lambda ex: {"job_id": waiting_job(ex)},
    "job.retry": failed_job,
    "job.clear_failed": lambda ex: failed_job(ex) and {},
    "background.pause": lambda ex: {"paused": True},
    "background.mode": lambda ex: {"mode": "started"},
    "runtime.install": runtime_install,
    "runtime.remove": runtime_remove,
}
