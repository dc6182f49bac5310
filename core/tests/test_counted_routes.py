"""The count is added to the routes of lists once, however many engines a process has had."""

from __future__ import annotations

from fastapi import APIRouter

from armarium.web.counted_routes import count_withheld


def test_a_second_engine_finds_its_routes_wrapped_already() -> None:
    router = APIRouter()

    @router.get("/things")
    def things() -> dict[str, list[str]]:
        return {"items": []}

    (route,) = router.routes
    count_withheld([route])
    once = route.endpoint  # type: ignore[attr-defined]
    count_withheld([route])
    assert once is not things
    assert route.endpoint is once  # type: ignore[attr-defined]
    assert route.dependant.call is once  # type: ignore[attr-defined]
