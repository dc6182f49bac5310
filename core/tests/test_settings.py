"""Settings come from the environment, unless whoever assembles the engine gives them."""

from __future__ import annotations

from pathlib import Path

import pytest
from pydantic import ValidationError

from armarium.settings import Settings


def test_a_variable_counts_whatever_its_case_and_what_is_given_counts_before_it(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("SERVICE_PORT", "4321")
    monkeypatch.setenv("service_local_only", "true")
    monkeypatch.setenv("SERVICE_LIBRARY_ROOTS", "/one:/two")
    monkeypatch.setenv("SERVICE_CORS_ORIGINS", "http://a.example, http://b.example")
    monkeypatch.setenv("SERVICE_OF_SOMETHING_ELSE", "ignored")
    read = Settings()
    assert (read.port, read.local_only) == (4321, True)
    assert read.library_roots == [Path("/one"), Path("/two")]
    assert read.cors_origins == ["http://a.example", "http://b.example"]
    assert Settings(port=80, library_roots=[Path("/three")]).library_roots == [Path("/three")]
    assert Settings(port=80).port == 80


@pytest.mark.parametrize("value", ["many", "", "65536"])
def test_a_variable_that_cannot_be_used_is_named(monkeypatch: pytest.MonkeyPatch, value: str) -> None:
    monkeypatch.setenv("SERVICE_PORT", value)
    with pytest.raises(ValidationError) as refusal:
        Settings()
    assert refusal.value.errors()[0]["loc"] == ("port",)
