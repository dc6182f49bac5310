"""A dask cluster as a place of compute: what a flavor may name, and a real cluster on this machine."""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import psutil
import pytest
import training_readers
from training_desk import Desk

from armarium_far_worker import cluster, container
from armarium_reading.api import READERS
from armarium_training import compute_dask
from armarium_training.compute_dask import DaskCompute
from armarium_training.jobs import scale as jobs
from armarium_training.shipping import pack_code


@pytest.fixture
def distributed() -> Any:
    return pytest.importorskip(
        "distributed", reason="distributed is not installed (pip install 'armarium-training[dask]')"
    )


@pytest.fixture(autouse=True)
def readers(desk: Desk) -> None:
    for reader in training_readers.ALL:
        desk.engine.drivers.give(READERS, reader.name, reader)


@pytest.fixture(scope="module")
def running() -> Iterator[str]:
    """The address of a cluster of two workers on this machine."""
    distributed = pytest.importorskip("distributed", reason="distributed is not installed")
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, host="127.0.0.1", dashboard_address=None, silence_logs=50
    ) as made:
        yield str(made.scheduler_address)


def start(desk: Desk, pages: list[str], flavor: str, **more: Any) -> Any:
    body = {"scope_ids": pages, "card": "careful", "flavor": flavor, **more}
    return desk.client.post("/api/reading-at-scale", json=body)


def look(desk: Desk, answer: Any) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    desk.engine.jobs.run_until_idle(desk.library)
    job_id = answer.json()["job_id"]
    found_answer: dict[str, Any] = desk.client.get(f"/api/reading-at-scale/jobs/{job_id}").json()
    return found_answer


@pytest.mark.parametrize(
    ("flavor", "why"),
    [
        ("dask:local", None),
        ("dask:local:4", None),
        ("dask:tls://cluster.example.org:8786", None),
        ("dask:tcp://127.0.0.1:8786", None),
        ("dask:local:0", "not a number of workers"),
        ("dask:local:many", "not a number of workers"),
        ("dask:tcp://cluster.example.org:8786", "only over an encrypted"),
        ("dask:http://cluster.example.org", "names no cluster"),
        ("dask:somewhere", "names no cluster"),
    ],
)
def test_what_a_flavor_may_name(distributed: Any, flavor: str, why: str | None) -> None:
    found = DaskCompute.why_not(flavor)
    assert found is None if why is None else why in str(found)


def test_pages_leave_for_another_cluster_only_where_that_was_said(distributed: Any, desk: Desk) -> None:
    page = desk.picture(2)
    open_way = start(desk, [page], "dask:tcp://10.0.0.1:8786", pages_may_leave=True)
    assert (open_way.status_code, open_way.json()["code"]) == (422, "cannot_run_there")
    for flavor in ("dask:tls://10.0.0.1:8786", "dask:tcp://127.0.0.1:8786"):
        stays = start(desk, [page], flavor)
        assert (stays.status_code, stays.json()["code"]) == (403, "pages_may_leave")


def test_without_dask_it_says_how_to_install_it(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compute_dask.importlib.util, "find_spec", lambda _name: None)
    assert "armarium-training[dask]" in str(DaskCompute.why_not("dask:local"))


def test_prices() -> None:
    assert DaskCompute.price_per_hour_usd("dask:local") == 0.0
    assert DaskCompute.price_per_hour_usd("dask:tls://cluster.example.org:8786") is None


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_shards_are_read_by_a_cluster_that_is_started_here(distributed: Any, desk: Desk) -> None:
    pages = [desk.picture(2) for _ in range(3)]
    told = look(desk, start(desk, pages, "dask:local:1", shard_size=2))
    assert (told["state"], told["landing"]["landed"], told["price_per_hour_usd"]) == ("done", 3, 0.0), told
    texts = desk.rows("SELECT content FROM content_representation ORDER BY content")
    assert [text for (text,) in texts] == ["line 0"] * 3 + ["line 1"] * 3


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_running_cluster_reads_what_rights_let_go(desk: Desk, running: str) -> None:
    page, local = desk.picture(2), desk.picture(2)
    desk.do("rights.set", {"target_kind": "document", "target_id": local, "model_use": "local"})
    told = look(desk, start(desk, [page, local], f"dask:{running}", pages_may_leave=True))
    assert (told["state"], told["landing"]["landed"]) == ("done", 1), told
    assert [entry["document_id"] for entry in told["package"]["skipped"]] == [local]


@pytest.mark.slow
@pytest.mark.timeout(300)
def test_a_shard_whose_worker_dies_fails_alone_and_is_sent_again(
    desk: Desk, running: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute_dask, "RETRIES", 0)
    python = DaskCompute._python
    broken = [True]

    def sometimes(self: DaskCompute, shard: Any) -> str:
        if shard.number == 0 and broken:
            broken.pop()
            return "/nowhere/python"
        return python(self, shard)

    monkeypatch.setattr(DaskCompute, "_python", sometimes)
    answer = start(
        desk, [desk.picture(2) for _ in range(2)], f"dask:{running}", shard_size=1, pages_may_leave=True
    )
    told = look(desk, answer)
    assert (told["counts"]["failed"], told["landing"]["landed"]) == (1, 1), told
    assert "could not be started" in told["failed_shards"]["0"]["why"]
    job_id = answer.json()["job_id"]
    assert desk.client.post(f"/api/reading-at-scale/jobs/{job_id}/resend-failed").status_code == 200
    assert look(desk, answer)["landing"]["landed"] == 2


@pytest.mark.slow
@pytest.mark.timeout(120)
def test_cancelled_what_runs_in_the_cluster_is_ended(
    distributed: Any, desk: Desk, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    mark = tmp_path / "mark"
    monkeypatch.setenv("ARMARIUM_TEST_MARK", str(mark))
    answer = start(desk, [desk.picture(2)], "dask:local:1", card="sleeping")
    wait = jobs.Compute.wait

    def cancelling(self: Any) -> None:
        if mark.exists():
            desk.client.post(f"/api/reading-at-scale/jobs/{self.job.job_id}/cancel")
        wait(self)

    monkeypatch.setattr(jobs.Compute, "wait", cancelling)
    assert look(desk, answer)["state"] == "cancelled"
    until = time.monotonic() + 60
    while psutil.pid_exists(int(mark.read_text())) and time.monotonic() < until:
        time.sleep(0.1)
    assert not psutil.pid_exists(int(mark.read_text()))


@pytest.mark.timeout(60)
def test_a_cluster_that_is_not_there_fails_its_shards_in_words(
    distributed: Any, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compute_dask, "CONNECT", 0.3)
    told = look(desk, start(desk, [desk.picture(2)], "dask:tcp://127.0.0.1:9", pages_may_leave=True))
    (shard,) = told["failed_shards"].values()
    assert "does not answer" in shard["why"]


def test_a_cluster_that_does_not_answer_is_told_without_dask_too(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """With doubles of dask's packages, so that this is tried where dask is not installed."""

    class Silent:
        def __init__(self, *_: Any, **__: Any) -> None:
            raise TimeoutError("Timed out")

    doubles = {
        "cloudpickle": SimpleNamespace(register_pickle_by_value=lambda _: None),
        "distributed": SimpleNamespace(Client=Silent),
    }
    monkeypatch.setattr(compute_dask.importlib.util, "find_spec", lambda _: object())
    answer = start(desk, [desk.picture(2)], "dask:tcp://127.0.0.1:9", pages_may_leave=True)
    monkeypatch.undo()
    monkeypatch.setattr(compute_dask.importlib, "import_module", doubles.__getitem__)
    (shard,) = look(desk, answer)["failed_shards"].values()
    assert shard["why"] == "The cluster tcp://127.0.0.1:9 does not answer (Timed out)."


def test_what_a_cluster_answers_in_place_of_a_result_fails_the_shard() -> None:
    for answer in (None, ("{", []), ("[]", []), (3, []), "abc"):
        place = DaskCompute(SimpleNamespace(args=SimpleNamespace(flavor="dask:local")))  # type: ignore[arg-type]
        place._futures["one"] = SimpleNamespace(status="finished", result=lambda told=answer: told)
        found = place.ask(["one"])["one"]
        assert (found.state, found.why) == ("failed", "Its answer is not a result."), answer


def test_a_shard_that_takes_too_long_or_fails_says_so(tmp_path: Path) -> None:
    place = tmp_path / "armarium_far_worker"
    place.mkdir()
    (place / "__init__.py").touch()
    for text, seconds, why in (
        ("import time\ndef main_in_folder(*_): time.sleep(60)", 0.5, "exceeded its time limit"),
        ("def main_in_folder(*_):\n    print('no paper')\n    return 1", 60.0, "no paper"),
        ("def main_in_folder(*_): return 3", 60.0, "status 3"),
    ):
        (place / "container.py").write_text(text)
        pack_code({"armarium_far_worker": place}, tmp_path / "code.zip")
        pack_code({}, tmp_path / "work.zip")
        packed = [(tmp_path / f"{name}.zip").read_bytes() for name in ("code", "work")]
        with pytest.raises(RuntimeError, match=why):
            cluster.do_shard(*packed, "", seconds)


def test_the_same_code_is_the_same_bytes(tmp_path: Path) -> None:
    package = {"armarium_far_worker": Path(cluster.__file__).parent}
    assert pack_code(package, tmp_path / "a.zip") == pack_code(package, tmp_path / "b.zip")
    assert b"__pycache__" not in (tmp_path / "a.zip").read_bytes()


def test_an_environment_is_made_once_for_what_an_interpreter_lacks(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert container.environment_for(["pillow>=10", "numpy"]) == sys.executable
    monkeypatch.setattr(container.Path, "home", lambda: tmp_path)
    ran: list[list[str]] = []
    monkeypatch.setattr(
        container.subprocess,
        "run",
        lambda command, **_: (
            (ran.append(command), Path(command[-1]).mkdir(parents=True))
            if "venv" in command
            else ran.append(command)
        ),
    )
    environment = container.environment_for(["no-such-package-of-anyone==1.0"])
    assert container.environment_for(["no-such-package-of-anyone==1.0"]) == environment != sys.executable
    assert [command[1:3] for command in ran] == [["-m", "venv"], ["-m", "pip"]]
