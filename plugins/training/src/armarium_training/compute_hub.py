"""The model hub as a place of compute: files in a private repository, one job per shard, one request for all
their states.
"""

from __future__ import annotations

import json
import shutil
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlsplit

from armarium.api import Egress, Engine, Invalid, JobContext, Limits, ServiceError, Unavailable
from armarium_far_worker.hub_files import HubError, HubFiles
from armarium_reading.api import HubAccess, hub_access
from armarium_training import errors
from armarium_training.compute import Compute, FarState, Shard
from armarium_training.flavors import price_per_hour_usd
from armarium_training.packing import shard_folder
from armarium_training.schemas.training import TrainArgs
from armarium_training.shipping import cargo_of, pack_code, sound_result
from armarium_training.staging import staging
from armarium_training.whole_files import write_whole

ADDRESS = "https://huggingface.co"
REPOSITORY = "armarium-jobs"
IMAGE = "python:3.11-slim"
JOB, SHARD = "armarium-job", "armarium-shard"
"""Labels of a job there: the engine's job, and the shard and attempt."""
LARGEST, LONGEST = 64 << 30, 6 * 3600.0
"""The largest file that is downloaded, in bytes, and the time limit for it, in seconds."""
LINES = 20
PATIENCE = 3
"""How many times in succession a job may be missing from the hub's list, or its result out of reach."""
STAGES = {"SCHEDULING": "queued", "RUNNING": "running", "COMPLETED": "done"}
SECONDS = {"s": 1, "m": 60, "h": 3_600, "d": 86_400}
# Downloads the code with the token, which is not carried along by redirects, and runs it.
BOOTSTRAP = """
import io, os, sys, tempfile, urllib.request, zipfile
request = urllib.request.Request(os.environ["ARMARIUM_CODE"])
request.add_unredirected_header("authorization", "Bearer " + os.environ["HF_TOKEN"])
folder = tempfile.mkdtemp()
with urllib.request.urlopen(request, timeout=600) as answer:
    zipfile.ZipFile(io.BytesIO(answer.read())).extractall(folder)
sys.path.insert(0, folder)
from armarium_far_worker.container import main
sys.exit(main(folder))
""".strip()


class EgressWire:
    """Requests through the engine's gate."""

    def __init__(self, engine: Engine, endpoint: str) -> None:
        self.gate = Egress(local_only=engine.settings.local_only)
        self.is_here = self.gate.leads_here(endpoint)

    @property
    def _reach(self) -> Any:
        return "machine" if self.is_here else "public"

    def ask(self, method: str, url: str, headers: Mapping[str, str], body: bytes | None) -> tuple[int, bytes]:
        """Send a request with a small body."""
        answer = self.gate.fetch(method, url, headers=headers, content=body, reach=self._reach)
        return answer.status, answer.read()

    def send_file(self, url: str, headers: Mapping[str, str], path: Path) -> int:
        """Upload a file, reading it as it is sent."""
        headers_sent = {**headers, "content-length": str(path.stat().st_size)}
        limits = Limits(seconds=LONGEST, silence=600.0)
        with path.open("rb") as file:
            pieces = iter(lambda: file.read(1 << 20), b"")
            with self.gate.open(
                "PUT", url, headers=headers_sent, content=pieces, reach=self._reach, limits=limits
            ) as answer:
                return answer.status

    def fetch(self, url: str, headers: Mapping[str, str], target: Path, sha256: str | None) -> None:
        """Download a whole file and check its digest."""
        limits = Limits(max_bytes=LARGEST, seconds=LONGEST, silence=600.0)
        target.unlink(missing_ok=True)
        self.gate.download(url, target, headers=headers, sha256=sha256, reach=self._reach, limits=limits)


class HubCompute(Compute):
    """The model hub: pages leave this machine, into a private repository of the token's owner."""

    name = "hub"
    label = "Model hub"
    needs_hub_token = True

    def __init__(self, job: JobContext) -> None:
        super().__init__(job)
        access = hub_access(job.engine)
        if access is None:
            raise errors.NeedsToken()
        self._token = access.key
        self._endpoint = endpoint_of(access)
        self._wire = EgressWire(job.engine, self._endpoint)
        if not self._wire.is_here and urlsplit(self._endpoint).scheme != "https":
            raise Invalid(
                "The address of the model hub begins with http://, so pages and the token would be sent "
                "unencrypted; write https:// in its provider.",
                code="not_encrypted",
            )
        self._owner: str | None = None
        self._jobs: dict[str, str] | None = None
        self._files: HubFiles | None = None
        self._misses: dict[str, int] = {}

    @classmethod
    def price_per_hour_usd(cls, flavor: str) -> float | None:
        """Return the price from the bundled list."""
        return price_per_hour_usd(flavor)

    def submit(self, shard: Shard, attempt: int) -> str:
        """Upload what is missing and start a job, unless one was started for this shard and attempt before."""
        try:
            return self._submit(shard, attempt)
        except (HubError, OSError) as error:
            raise Unavailable(self._without_token(str(error)), code="hub_failed") from None

    def _submit(self, shard: Shard, attempt: int) -> str:
        label = f"{shard.number}-{attempt}"
        if self._jobs is None:
            self._jobs = {str(job.get("labels", {}).get(SHARD)): str(job["id"]) for job in self._list_jobs()}
        if label in self._jobs:
            return self._jobs[label]
        files = self._repository()
        cargo = cargo_of(self.job.engine, shard)
        folder = f"jobs/{self.job.job_id}/{shard.number}"
        work = Path(tempfile.mkdtemp())
        try:
            code = f"code/{pack_code(cargo.packages, work / 'code.zip')}.zip"
            code_files = {} if code in files.list_paths("code") else {code: work / "code.zip"}
            known_paths = files.list_paths(folder)
            task = {**cargo.task, "files": {}}
            for name, path in cargo.files.items():
                target = f"{folder}/{name}"
                task["files"][name] = [target, None]
                if target not in known_paths:
                    code_files[target] = path
            (work / "task.json").write_text(json.dumps(task, ensure_ascii=False, sort_keys=True), "utf-8")
            code_files[f"{folder}/task-{attempt}.json"] = work / "task.json"
            self.job.check()
            files.put(code_files, f"Shard {shard.number}")
        finally:
            shutil.rmtree(work, ignore_errors=True)
        request = {
            "dockerImage": IMAGE,
            "command": ["python", "-c", BOOTSTRAP],
            "arguments": [],
            "environment": {
                "ARMARIUM_ENDPOINT": self._endpoint,
                "ARMARIUM_REPO": files.repo,
                "ARMARIUM_CODE": f"{self._endpoint}/datasets/{files.repo}/resolve/main/{code}",
                "ARMARIUM_TASK": f"{folder}/task-{attempt}.json",
                "ARMARIUM_OUT": f"{folder}/out-{attempt}",
            },
            "secrets": {"HF_TOKEN": self._token},
            "flavor": str(getattr(self.job.args, "flavor", None) or "cpu-basic"),
            "timeoutSeconds": seconds_of(str(getattr(self.job.args, "timeout", None) or "2h")),
            "labels": {JOB: self.job.job_id, SHARD: label},
        }
        started = files.ask("POST", f"/api/jobs/{self._namespace()}", request)
        self._jobs[label] = str(started["id"])
        return str(started["id"])

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        """Request the states of all with one call; then fetch results and, for failed ones, the last lines of
        the log.

        If the hub does not answer, it is asked again next time.
        """
        ids = set(far_ids)
        try:
            jobs = {str(job["id"]): job for job in self._list_jobs() if str(job.get("id")) in ids}
        except (HubError, ServiceError) as error:
            self.job.log("warning", self._without_token(str(error)))
            return {}
        states = {far_id: self._state(far_id, job) for far_id, job in jobs.items()}
        for far_id in ids.difference(jobs):
            # One that was started just now may be listed a little later.
            if self._is_lost(far_id):
                states[far_id] = FarState("failed", "The model hub no longer knows this job.")
        return states

    def _is_lost(self, far_id: str) -> bool:
        """Count a request that did not find what it should; return whether there were too many in succession."""
        self._misses[far_id] = self._misses.get(far_id, 0) + 1
        return self._misses[far_id] >= PATIENCE

    def cancel(self, far_ids: Sequence[str]) -> None:
        """Cancel each one; those that have already ended are left as they are."""
        for far_id in far_ids:
            try:
                path = f"/api/jobs/{self._namespace()}/{quote(far_id, safe='')}/cancel"
                self._plain().ask("POST", path, {}, accept=(404, 409))
            except (HubError, ServiceError) as error:
                self.job.log("warning", self._without_token(str(error)))

    def _state(self, far_id: str, job: dict[str, Any]) -> FarState:
        status = job.get("status") or {}
        stage = str(status.get("stage"))
        state = STAGES.get(stage, "failed")
        if state in ("queued", "running"):
            self._misses.pop(far_id, None)
            return FarState(state)
        label = str(job.get("labels", {}).get(SHARD))
        number, _, attempt = label.partition("-")
        if state == "done":
            try:
                return FarState("done", None, self._last_lines(far_id), self._result(number, attempt))
            except OSError as error:
                raise errors.no_room_for_result(error.strerror or type(error).__name__) from error
            except (HubError, ValueError) as error:
                return FarState("failed", self._without_token(f"Its result could not be fetched. {error}"))
            except ServiceError as error:
                if error.code == "no_room":
                    raise
                why = self._without_token(f"Its result could not be fetched. {error.detail}")
                if self._is_lost(far_id):
                    return FarState("failed", why)
                self.job.log("warning", why)
                return FarState("running")
        words = str(status.get("message") or "").strip()
        why = f"The job ended there as {stage.lower()}{f': {words}' if words else ''}."
        return FarState("failed", self._without_token(why), self._last_lines(far_id))

    def _result(self, number: str, attempt: str) -> dict[str, Any]:
        """Return the result of a shard; the files it produced are put into the shard's folder."""
        if not (number.isdecimal() and attempt.isdecimal()):
            raise HubError("It is not a shard of this job.")
        is_training = isinstance(self.job.args, TrainArgs)
        folder = (
            staging(self.job.library, self.job.job_id) if is_training else shard_folder(self.job, int(number))
        )
        out = f"jobs/{self.job.job_id}/{number}/out-{attempt}"
        files = self._repository()
        with tempfile.TemporaryDirectory() as work:
            files.take(f"{out}/result.json", Path(work) / "result.json")
            result = sound_result(json.loads((Path(work) / "result.json").read_text("utf-8")))
            if result is None:
                raise HubError("It is not a result.")
            for name, digest in result.get("files", {}).items():
                files.take(f"{out}/{name}", folder / name, digest)
        write_whole(folder / f"result-{attempt}.json", json.dumps(result, ensure_ascii=False).encode())
        return {**result, "adapter_there": f"{files.repo}/{out}/adapter" if result.get("stays") else None}

    def _last_lines(self, far_id: str) -> list[str]:
        """Return the end of a job's log, without the token."""
        path = f"/api/jobs/{self._namespace()}/{quote(far_id, safe='')}/logs?tail={LINES}"
        headers = {"authorization": f"Bearer {self._token}"}
        limits = Limits(max_bytes=4 << 20, seconds=15.0, silence=5.0)
        data = b""
        try:
            gate, reach = self._wire.gate, self._wire._reach
            with gate.open(
                "GET", self._endpoint + path, headers=headers, reach=reach, limits=limits
            ) as answer:
                # A log stays open for a while after its last line.
                for piece in answer.chunks:
                    data += piece
        except ServiceError:
            pass
        lines = []
        for line in data.decode("utf-8", "replace").splitlines():
            if line.startswith("data:"):
                try:
                    lines.append(self._without_token(str(json.loads(line[5:])["data"]))[:500])
                except (ValueError, KeyError, TypeError):
                    continue
        return lines[-LINES:]

    def _list_jobs(self) -> list[dict[str, Any]]:
        """Return this job's jobs at the hub, with one request."""
        path = f"/api/jobs/{self._namespace()}?label={quote(f'{JOB}={self.job.job_id}', safe='')}"
        jobs = self._plain().ask("GET", path)
        if not isinstance(jobs, list):
            raise HubError("The model hub's list of jobs is not a list.")
        ours = [job for job in jobs if isinstance(job, dict)]
        return [job for job in ours if (job.get("labels") or {}).get(JOB) == self.job.job_id]

    def _namespace(self) -> str:
        if self._owner is None:
            self._owner = str(self._plain().ask("GET", "/api/whoami-v2")["name"])
        return self._owner

    def _plain(self) -> HubFiles:
        return HubFiles(self._wire, self._endpoint, "", self._token)

    def _repository(self) -> HubFiles:
        if self._files is None:
            files = HubFiles(self._wire, self._endpoint, f"{self._namespace()}/{REPOSITORY}", self._token)
            files.make()
            if not files.is_private():
                raise HubError(
                    f"The repository {files.repo} there is not private; make it private, or remove it."
                )
            self._files = files
        return self._files

    def _without_token(self, words: str) -> str:
        return words.replace(self._token, "(token)")


def endpoint_of(access: HubAccess) -> str:
    """Return the hub's address: that of the provider without a path, else the public one."""
    if not access.api_base:
        return ADDRESS
    parts = urlsplit(access.api_base)
    return f"{parts.scheme}://{parts.netloc}"


def seconds_of(timeout: str) -> int:
    """Return the seconds of a number with s, m, h or d."""
    return int(timeout[:-1]) * SECONDS[timeout[-1]]
