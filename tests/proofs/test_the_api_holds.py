"""Every route under generated requests: no server error, no undeclared status, answers as declared.

The phases of `st run --phases examples,coverage,fuzzing,stateful`, in process, with ids and links supplied. What each
check of schemathesis is for here, and why three are off:

- not_a_server_error, status_code_conformance, content_type_conformance, response_headers_conformance,
  response_schema_conformance: on; they are the promise itself.
- negative_data_rejection: on; what does not conform to the description is refused. Not for a form whose file was
  replaced by bytes, which schemathesis no longer recognises as the string it generated.
- unsupported_method, allow_header_conformance, missing_required_header: on; the first two answer 405 with Allow.
- ignored_auth: on; each request also goes without a token and with a wrong one, each from a different address,
  because five wrong ones from one address in a minute are answered with 429.
- ensure_resource_availability: on; what was created can be read.
- use_after_free: off; a deletion moves a document to the Trash and withdraws a segment, and both can still be read
  until the Trash is emptied.
- positive_data_acceptance: off; a description cannot say that a pass must belong to the page named with it. That
  every operation does succeed is asserted below instead.
- object_level_authorization: off; it needs two owners of one thing. Bound tokens have tests of their own.
"""

from __future__ import annotations

import os
import resource
import sys
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest
import schemathesis
from fastapi.responses import JSONResponse
from fastapi.routing import APIRoute
from pydantic import BaseModel
from schemathesis.config import SchemathesisConfig
from schemathesis.engine import events, from_schema
from starlette.responses import Response

from armarium.web.http import REFUSALS
from proofs.api_project import TOKEN, ApiProject
from proofs.api_requests import CasePreparer, Tally

EXAMPLES = int(os.environ.get("ARMARIUM_FUZZ_EXAMPLES", "8"))
SEED = int(os.environ.get("ARMARIUM_FUZZ_SEED", "1"))
CASES = int(os.environ.get("ARMARIUM_FUZZ_CASES", "100000"))
PARTS = 2
"""The soak's parts, each with seeds of its own, so that two processes share it (`make soak`)."""
ENDLESS = {"/api/changes/stream", "/api/workflow-execution/threads/{thread_id}/stream"}
"""Streams that never end by themselves: tested elsewhere."""
NEVER_MET = {
    "POST /api/engine/stop": "it would end what is asked; tried in core/tests/over_http/test_engine.py",
    "POST /api/iiif/manifests/fetch": "it reaches the network, and the engine is set to work offline here; tried in "
    "plugins/iiif/tests/test_iiif_import.py",
    "POST /api/training/linereader": "no model hub is reached from here; tried in plugins/training/tests/test_remote.py",
    "POST /api/training/linereader/here": "the trainer's runtime is not installed here; tried in "
    "plugins/training/tests/test_trainings.py",
    "POST /api/training/vision-lora": "no vision model is here, and no model hub is reached from here; tried in "
    "plugins/training/tests/test_vision.py",
    "POST /api/training/regions/here": "no trainer of detectors is installed; tried there too",
    "POST /api/training/jobs/{job_id}/cancel": "no training begins here; tried there too",
    "GET /api/training/jobs/{job_id}": "as the one before",
    "GET /api/training/model": "as the one before",
    "POST /api/training/models/make-global": "as the one before",
    "POST /api/reading-at-scale/jobs/{job_id}/resend-failed": "no shard fails here; tried in "
    "plugins/training/tests/test_scale.py",
    "POST /api/local-models/download/{runtime}/{model}": "no network is reached from here; tried in "
    "plugins/reading/tests/test_routes.py",
    "POST /api/find-documents/proposals/{proposal_id}/join": "its pages go together, which chance does not find; tried in "
    "plugins/finding/tests/test_proposals.py",
    "POST /api/find-documents/proposals/{proposal_id}/move-page": "as the one before",
    "POST /api/find-documents/proposals/{proposal_id}/split": "as the one before",
    "GET /api/georeference/documents/{doc_id}/map": "few maps here have the points it needs; tried in "
    "plugins/georeference/tests/test_maps_and_annotations.py",
    "GET /api/georeference/passes/{pass_id}/map": "as the one before",
    "GET /api/georeference/passes/{pass_id}/on-picture": "as the one before",
    "GET /api/georeference/segments/{segment_id}/world-shape": "as the one before",
    "GET /api/likeness": "no picture is described by vectors here; tried in plugins/paleography/tests/test_likeness.py",
    "GET /api/sync-folders/{folder_id}/arrangement": "no folder on this disk is tied here for long; tried in plugins/sync/tests",
    "GET /api/sync-folders/{folder_id}/intake": "as the one before",
}
"""Operations that cannot succeed here, and why."""
CHECKS_OFF = ("positive_data_acceptance", "use_after_free", "object_level_authorization")
PHASES = ("examples", "coverage", "fuzzing", "stateful")


class ApiRun:
    """One run over the whole description; its findings, and the answers of each operation."""

    def __init__(self, ground: ApiProject) -> None:
        self.ground = ground
        self.tally = Tally()
        self.faults: list[str] = []
        self.requests = 0
        self.given_up: Counter[str] = Counter()
        self._asker = CasePreparer(ground, self.tally)

    async def app(self, scope: Any, receive: Any, send: Any) -> None:
        """The engine's application, called from a different client address each time, for the current project."""
        if scope["type"] != "http":
            return
        self.requests += 1
        number = self.requests
        scope["client"] = (f"127.{number >> 16 & 255}.{number >> 8 & 255}.{number & 255}", 50000)
        named = (b"x-service-library-path", str(self.ground.path).encode())
        scope["headers"] = [h for h in scope["headers"] if h[0] != named[0]] + [named]
        await self.ground.app(scope, receive, send)

    def go(
        self, examples: int, seed: int, *, mode: str = "all", phases: tuple[str, ...] = PHASES, only: str = ""
    ) -> None:
        """Send *examples* requests per operation and phase; *only* restricts them to paths that contain it."""
        config = SchemathesisConfig.from_dict(
            {
                "seed": seed,
                "cache": {"enabled": False},
                "headers": {"Host": "127.0.0.1", "Authorization": f"Bearer {TOKEN}"},
                "continue-on-failure": True,
                "generation": {"max-examples": examples, "mode": mode, "no-shrink": True, "database": "none"},
                "phases": {name: {"enabled": name in phases} for name in PHASES}
                | ({"examples": {"enabled": True, "fill-missing": True}} if "examples" in phases else {}),
                "checks": {name: {"enabled": False} for name in CHECKS_OFF},
            }
        )
        found = schemathesis.openapi.from_asgi(
            "/openapi.json", self.app, config=config, headers={"Host": "127.0.0.1"}
        )
        found = found.exclude(path=sorted(ENDLESS))
        if only:
            found = found.include(path_regex=only)
        self.operations = {operation.ok().label for operation in found.get_all_operations()}
        with self._hooks():
            for event in from_schema(found).execute():
                self._hear(event)

    def _hooks(self) -> Any:
        return install_hooks(
            before_call=lambda context, case, kwargs: self._asker.before(case),
            after_call=lambda context, case, response: self._asker.after(case, response),
            filter_failure=lambda context, failure, case, response: (
                not (
                    type(failure).__name__ == "AcceptedNegativeData"
                    and case.media_type == "multipart/form-data"
                )
            ),
        )

    def _hear(self, event: Any) -> None:
        if isinstance(event, events.ScenarioFinished):
            for checks in event.recorder.checks.values():
                for check in checks:
                    if check.failure_info is not None:
                        failure = check.failure_info.failure
                        said = f"{failure.title}: {failure.message[:600]}\n  {check.failure_info.code_sample[:800]}"
                        self.faults.append(f"{failure.operation}: {said}")
        elif isinstance(event, events.NonFatalError | events.FatalError):
            info = getattr(event, "info", None)
            said = repr(event.exception) if info is None else f"{info.title}: {info.message}"
            if "examples are filtered out" in said:
                # Hypothesis could not generate enough cases against the description; the API was not called at all.
                self.given_up[str(getattr(event, "label", ""))] += 1
            else:
                self.faults.append(f"{getattr(event, 'label', '')}: {said}")

    def never_met(self) -> set[str]:
        """Return the operations that never succeeded, except those that cannot."""
        return self.tally.never_met(self.operations) - NEVER_MET.keys()

    def fields_never_met(self) -> dict[str, list[str]]:
        """Return the fields that were in no successful request, by operation."""
        fields = self._asker.fields
        left = {
            operation: fields.all(operation) - self.tally.fields[operation] for operation in self.operations
        }
        return {one: sorted(map(".".join, missed)) for one, missed in sorted(left.items()) if missed}

    def fields_met(self) -> float:
        """Return the fraction of all fields that were in a successful request."""
        known = sum(len(self._asker.fields.all(operation)) for operation in self.operations)
        return 1 - sum(map(len, self.fields_never_met().values())) / max(known, 1)

    def describe(self) -> str:
        """Return the figures, in lines for a person."""
        kept, broken = self.tally.total(True), self.tally.total(False)
        return "\n".join(
            (
                f"{self.requests} requests over {len(self.operations)} operations on {self.ground.laid} projects",
                f"as described: {kept.total()} answered {dict(sorted(kept.items()))}: "
                f"{self.tally.share(200, 399):.1%} with success, {self.tally.share(404, 404):.1%} with 404",
                f"against the description: {broken.total()} answered {dict(sorted(broken.items()))}",
                f"never with success: {sorted(self.tally.never_met(self.operations)) or 'none'}",
                f"fields met with success: {self.fields_met():.1%}",
                f"rounds of an operation for which too few cases could be made: {dict(self.given_up) or 'none'}",
                f"memory of this process at its most: {memory()} MB",
            )
        )

    def check(self) -> None:
        print(self.describe())
        assert not self.faults, f"{len(self.faults)} faults:\n\n" + "\n\n".join(dict.fromkeys(self.faults))
        statuses = set(self.tally.total(True)) | set(self.tally.total(False))
        assert not {status for status in statuses if status >= 500} - {503}
        assert not self.never_met(), "an operation that never succeeds was met at its edge only"
        assert self.tally.share(200, 399) > 0.6
        assert self.tally.share(404, 404) < 0.15


def memory() -> int:
    """Return the peak memory of this process so far, in MB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss // (
        1024 if sys.platform == "linux" else 1024**2
    )


@contextmanager
def install_hooks(**hooks: Any) -> Iterator[None]:
    """Install these hooks in schemathesis for the duration of the block."""
    made = []
    for name, hook in hooks.items():
        hook.__name__ = name
        made.append(schemathesis.hook(name)(hook))
    try:
        yield
    finally:
        for hook in made:
            schemathesis.hooks.unregister(hook)


@pytest.fixture(scope="module")
def ground() -> Iterator[ApiProject]:
    api_project = ApiProject()
    yield api_project
    api_project.close()


@pytest.mark.slow
@pytest.mark.timeout(0)
def test_requests_as_described(ground: ApiProject) -> None:
    asked = ApiRun(ground)
    asked.go(EXAMPLES, SEED, mode="positive", phases=("examples", "fuzzing"))
    asked.check()


@pytest.mark.soak
@pytest.mark.timeout(0)
@pytest.mark.parametrize("part", range(PARTS))
def test_a_hundred_thousand_cases_in_every_phase(ground: ApiProject, part: int) -> None:
    """Each part of the soak sends its share of them, to every operation."""
    asked = ApiRun(ground)
    seed = SEED + part * 1_000_000
    if part == 0:
        asked.go(20, seed, phases=("examples", "coverage", "stateful"))
    while asked.requests < CASES / PARTS:
        asked.go(60, seed, mode="positive", phases=("fuzzing",))
        asked.go(12, seed, mode="negative", phases=("fuzzing",))
        print(f"{asked.describe()}\n{len(asked.faults)} faults so far", flush=True)
        seed += 1000
    for operation, fields in asked.fields_never_met().items():
        print(f"never met with success: {operation}: {', '.join(fields)}")
    asked.check()
    assert asked.fields_met() > 0.75, "the requests are plain where the description is rich"


@pytest.mark.slow
def test_what_the_examples_open_is_closed_again(ground: ApiProject) -> None:
    """An open project takes some megabytes, and a hundred thousand requests would open hundreds."""
    open_at_first = {library.path for library in ground.engine.libraries.open_now()}
    ground.lay()
    still_open = {library.path for library in ground.engine.libraries.open_now()} & open_at_first
    assert len(open_at_first) > 1
    assert not still_open


FAULTS = {
    "error": "Server error",
    "undeclared": "Undocumented status code",
    "shape": "Response violates schema",
    "type": "Undocumented Content-Type",
}
"""Each planted fault, and the name of the finding."""


@pytest.fixture
def planted(ground: ApiProject) -> Iterator[None]:
    """Routes with one fault each, at `/api/planted/…`."""

    def error() -> Response:
        raise RuntimeError("planted")

    def answer_undeclared() -> Response:
        return JSONResponse({"number": 1}, status_code=418)

    def shape() -> Response:
        return JSONResponse({"number": "one"})

    def wrong_type() -> Response:
        return Response("1", media_type="text/plain")

    routes = ground.app.router.routes
    before = list(routes)
    for fault, answer in zip(FAULTS, (error, answer_undeclared, shape, wrong_type), strict=True):
        routes.append(
            APIRoute(
                f"/api/planted/{fault}",
                answer,
                response_model=PlantedAnswer,
                responses=REFUSALS(),
                methods=["GET"],
            )
        )
    ground.app.openapi_schema = None
    yield
    routes[:] = before
    ground.app.openapi_schema = None


@pytest.mark.slow
@pytest.mark.usefixtures("planted")
def test_planted_faults_are_caught(ground: ApiProject) -> None:
    for what, called in FAULTS.items():
        asked = ApiRun(ground)
        asked.go(2, SEED, mode="positive", phases=("fuzzing",), only=f"/api/planted/{what}$")
        assert asked.tally.total(True)
        assert any(called in fault for fault in asked.faults), (what, asked.faults)
        with pytest.raises(AssertionError, match="faults"):
            asked.check()


class PlantedAnswer(BaseModel):
    number: int
