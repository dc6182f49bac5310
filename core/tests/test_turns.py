"""Who may write next: one at a time, people before jobs, and nobody waits for ever."""

from __future__ import annotations

import threading
import time

import pytest

from armarium.store import write_queue
from armarium.store.write_queue import WriterQueue, work_in_background


class WaitingWriter:
    """A thread that waits for the lock, records that it has it, and releases it on request."""

    def __init__(self, queue: WriterQueue, name: str, had: list[str], *, job: bool = False) -> None:
        self.queue, self.name, self.had, self.job = queue, name, had, job
        self.go_on = threading.Event()
        self.go_on.set()
        self.thread = threading.Thread(target=self._ask, daemon=True)
        before = len(queue._people) + len(queue._jobs)
        self.thread.start()
        deadline = time.monotonic() + 60
        while len(queue._people) + len(queue._jobs) == before and time.monotonic() < deadline:
            time.sleep(0.001)

    def _ask(self) -> None:
        if self.job:
            work_in_background()
        assert self.queue.acquire(20)
        self.had.append(self.name)
        self.go_on.wait(20)
        self.queue.release()


def test_one_writer_at_a_time_and_none_waits_for_ever() -> None:
    queue, inside, most, turns_taken = WriterQueue(), 0, 0, 0

    def work(job: bool) -> None:
        nonlocal inside, most, turns_taken
        if job:
            work_in_background()
        for _ in range(300):
            assert queue.acquire(60)
            inside += 1
            most = max(most, inside)
            turns_taken += 1
            time.sleep(0)
            inside -= 1
            queue.release()

    threads = [threading.Thread(target=work, args=(number % 4 == 0,)) for number in range(12)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(120)
    assert (most, turns_taken, inside) == (1, 3600, 0)
    assert queue.acquire(0)


def test_people_in_their_order_then_jobs() -> None:
    queue, had = WriterQueue(), list[str]()
    assert queue.acquire(1)
    waiting = [
        WaitingWriter(queue, name, had, job=name.startswith("job"))
        for name in ("job 1", "job 2", "Ana", "Ben")
    ]
    queue.release()
    for one in waiting:
        one.thread.join(20)
    assert had == ["Ana", "Ben", "job 1", "job 2"]


def test_a_job_has_its_turn_after_so_many_people(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(write_queue, "PASSED_OVER", 3)
    queue, had = WriterQueue(), list[str]()
    assert queue.acquire(1)
    waiting = [WaitingWriter(queue, "job", had, job=True)] + [
        WaitingWriter(queue, f"{n}", had) for n in range(6)
    ]
    queue.release()
    for one in waiting:
        one.thread.join(20)
    assert had == ["0", "1", "2", "job", "3", "4", "5"]


def test_a_waiter_that_lost_the_lock_a_few_times_gets_it_next() -> None:
    queue, had = WriterQueue(), list[str]()
    assert queue.acquire(1)
    waiting = WaitingWriter(queue, "Ana", had)
    turn = queue._people[0]
    for _ in range(write_queue.MISSED):
        # Somebody else takes the lock in the instant between its release and the waiter's waking.
        with queue._lock:
            turn.missed += 1
    waiting.go_on.clear()
    queue.release()
    # The lock is the waiter's already, whether or not her thread has woken.
    assert not queue.acquire(0)
    waiting.go_on.set()
    waiting.thread.join(20)
    assert had == ["Ana"]


def test_a_wait_that_times_out_leaves_the_queue_working() -> None:
    queue = WriterQueue()
    assert queue.acquire(1)
    assert not queue.acquire(0.01)
    assert not queue._people
    queue.release()
    assert queue.acquire(0)
