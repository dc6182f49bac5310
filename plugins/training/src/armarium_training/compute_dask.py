"""A dask cluster as a place of compute: one that is started on this machine, or one that runs elsewhere."""

from __future__ import annotations

import importlib
import importlib.util
import ipaddress
import json
import os
import tempfile
import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

from armarium.api import Egress, JobContext, Unavailable
from armarium_reading.api import load_reader
from armarium_training.compute import Compute, FarState, Shard
from armarium_training.compute_hub import seconds_of
from armarium_training.shipping import WHEN, cargo_of, pack_code, sound_result

LOCAL = "local"
RETRIES = 2
"""How often the cluster itself retries a shard before reporting it as failed."""
CONNECT = 30.0


class DaskCompute(Compute):
    """A cluster of dask.distributed. The flavor is `dask:local`, `dask:local:4` (that many workers) or
    `dask:tls://host:8786`.

    Only a cluster started here keeps pages on this machine: where the workers of another one are is not
    known.
    """

    name = "dask"
    label = "Dask cluster"
    seconds_between = 0.5
    forgets = True

    def __init__(self, job: JobContext) -> None:
        super().__init__(job)
        self.where = address_of(str(job.args.flavor))
        self._client: Any = None
        self._cluster: Any = None
        self._futures: dict[str, Any] = {}
        self._code: dict[str, Any] = {}

    @classmethod
    def price_per_hour_usd(cls, flavor: str) -> float | None:
        """Return 0 for this machine; what another cluster costs is not known."""
        return 0.0 if cls.stays_here(flavor) else None

    @classmethod
    def stays_here(cls, flavor: str) -> bool:
        """Return whether the cluster is one that is started on this machine."""
        return address_of(flavor).partition(":")[0] == LOCAL

    @classmethod
    def lacks(cls) -> str | None:
        """Return that distributed is not installed, if it is not."""
        if importlib.util.find_spec("distributed") is None:
            return "dask is not installed; install it with: pip install 'armarium-training[dask]'"
        return None

    @classmethod
    def why_not(cls, flavor: str) -> str | None:
        """Return why not: distributed is not installed, the flavor names no cluster, or the connection is not
        encrypted.
        """
        if (lacking := cls.lacks()) is not None:
            return lacking
        place = address_of(flavor)
        kind, _, count = place.partition(":")
        if kind == LOCAL:
            sound = not count or (count.isascii() and count.isdecimal() and 1 <= int(count) <= 256)
            return (
                None
                if sound
                else f"{count!r} is not a number of workers from 1 to 256; write for instance dask:local:4."
            )
        parts = urlsplit(place)
        if parts.scheme not in ("tls", "tcp") or not parts.hostname:
            return f"{flavor!r} names no cluster; write dask:local, dask:local:4 or dask:tls://host:8786."
        if parts.scheme == "tcp" and not _is_loopback(parts.hostname):
            return "Pages are sent to a cluster elsewhere only over an encrypted connection; write tls:// and give dask its certificates."
        return None

    def submit(self, shard: Shard, attempt: int) -> str:
        """Send a shard with its pictures, the code and the model; the same shard and attempt are the same
        task there.
        """
        far_id = f"armarium-{self.job.job_id}-{shard.number}-{attempt}"
        if far_id in self._futures:
            return far_id
        client = self._connect()
        from armarium_far_worker.cluster import do_shard

        cargo = cargo_of(self.job.engine, shard)
        with tempfile.TemporaryDirectory() as work:
            digest = pack_code(cargo.packages, Path(work) / "code.zip")
            if digest not in self._code:
                self._code[digest] = client.scatter(
                    (Path(work) / "code.zip").read_bytes(), hash=False, broadcast=True
                )
            data = client.scatter(
                _pack_shard(
                    {**cargo.task, **self._share(), "files": {}}, cargo.files, Path(work) / "work.zip"
                ),
                hash=False,
            )
        self._futures[far_id] = client.submit(
            do_shard,
            self._code[digest],
            data,
            self._python(shard),
            float(seconds_of(str(self.job.args.timeout))),
            key=far_id,
            retries=RETRIES,
        )
        return far_id

    def ask(self, far_ids: Sequence[str]) -> dict[str, FarState]:
        """Return what the cluster has reported about them; no request is made."""
        return {far_id: self._state(far_id) for far_id in far_ids}

    def cancel(self, far_ids: Sequence[str]) -> None:
        """Cancel the tasks; a running one is ended there."""
        futures = [self._futures.pop(far_id) for far_id in far_ids if far_id in self._futures]
        if futures and self._client is not None:
            self._client.cancel(futures, force=True)

    def close(self) -> None:
        """Disconnect from the cluster; one that was started here is stopped."""
        for connection in (self._client, self._cluster):
            if connection is not None:
                connection.close()
        self._client = self._cluster = None

    def _state(self, far_id: str) -> FarState:
        future = self._futures.get(far_id)
        if future is None:
            return FarState("failed", "The engine was stopped while reading it.")
        if future.status == "pending":
            return FarState("submitted")
        del self._futures[far_id]
        if future.status != "finished":
            why = (
                str(future.exception())
                if future.status == "error"
                else f"The cluster has {future.status} it."
            )
            return FarState("failed", why[:1_000], [why[:500]])
        try:
            text, lines = future.result()
            result = sound_result(json.loads(text))
        except (TypeError, ValueError):
            result = None
        return (
            FarState("failed", "Its answer is not a result.")
            if result is None
            else FarState("done", None, lines, result)
        )

    def _share(self) -> dict[str, Any]:
        """Return the threads per worker of a local cluster, so that together they use as many as there are cores."""
        kind, _, count = self.where.partition(":")
        cores = max(1, os.cpu_count() or 1)
        return {"threads": max(1, cores // (int(count) if count else cores))} if kind == LOCAL else {}

    def _python(self, shard: Shard) -> str:
        """Return the interpreter of the reader's runtime for a local cluster; elsewhere each worker makes its own."""
        reader = load_reader(self.job.engine, shard.manifest["driver"])
        if reader.runtime is None or not self.stays_here(self.job.args.flavor):
            return ""
        return str(self.job.engine.runtimes.python_of(reader.runtime.name))

    def _connect(self) -> Any:
        """Return the client, connecting when it is first needed; Unavailable if the cluster does not answer."""
        if self._client is not None:
            return self._client
        from armarium_far_worker import cluster

        cloudpickle: Any = importlib.import_module("cloudpickle")
        distributed: Any = importlib.import_module("distributed")
        # A remote worker has none of our code: what it runs is sent with the task.
        cloudpickle.register_pickle_by_value(cluster)
        kind, _, count = self.where.partition(":")
        try:
            if kind == LOCAL:
                most = int(count) if count else max(1, os.cpu_count() or 1)
                self._cluster = distributed.LocalCluster(
                    n_workers=most if count else 1,
                    threads_per_worker=1,
                    processes=True,
                    host="127.0.0.1",
                    dashboard_address=None,
                    silence_logs=50,
                )
                if not count:
                    self._cluster.adapt(minimum=1, maximum=most)
                self._client = distributed.Client(self._cluster)
            else:
                host = urlsplit(self.where).hostname
                if not _is_loopback(str(host)):
                    Egress(local_only=self.job.engine.settings.local_only).check_url(
                        f"https://{host}", "network"
                    )
                self._client = distributed.Client(self.where, timeout=CONNECT)
        except (OSError, TimeoutError, RuntimeError) as error:
            self.close()
            raise Unavailable(
                f"The cluster {self.where} does not answer ({error}).", code="no_cluster"
            ) from error
        return self._client


def address_of(flavor: str) -> str:
    """Return the part of a flavor after `dask:`."""
    return flavor.partition(":")[2] or LOCAL


def _is_loopback(host: str) -> bool:
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"


def _pack_shard(task: dict[str, Any], files: dict[str, Path], target: Path) -> bytes:
    """Pack a shard's task and files into one archive; pictures are not compressed further."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_STORED) as archive:
        archive.writestr(zipfile.ZipInfo("task.json", WHEN), json.dumps(task, ensure_ascii=False))
        for name, path in sorted(files.items()):
            archive.write(path, f"data/{name}")
    return target.read_bytes()
