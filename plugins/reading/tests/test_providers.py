"""Providers belong to the owner; their keys are in no answer, log or database, and are sent only to their own
host.
"""

from __future__ import annotations

import json
import stat
from pathlib import Path
from typing import Any

import pytest

from armarium.api import Engine, NotFound, Params, ServiceError, raw_of
from armarium.principals import LOCAL_OWNER
from armarium_reading.providers import keys
from armarium_reading.providers.registry import provider_type
from armarium_reading.providers.wire import GROUP, ProviderType
from armarium_testing.model_provider import LoopbackProvider

KEY = "sk-this-is-the-secret-0123456789"


def add(client: Any, **stated: Any) -> dict[str, Any]:
    answer = client.post("/api/providers", json={"name": "Desk", "provider_type": "local-server", **stated})
    assert answer.status_code == 200, answer.text
    return dict(answer.json())


def test_a_provider_is_added_changed_and_removed(client: Any) -> None:
    made = add(client)
    assert {key: made[key] for key in made if key not in ("id", "audit_id")} == {
        "name": "Desk",
        "provider_type": "local-server",
        "api_base": None,
        "enabled": True,
        "sort_order": 0,
        "has_key": False,
    }
    one = f"/api/providers/{made['id']}"
    changed = client.patch(one, json={"name": "Table", "enabled": False, "sort_order": 3}).json()
    assert (changed["name"], changed["enabled"], changed["sort_order"]) == ("Table", False, 3)
    add(client, name="First")
    listed = client.get("/api/providers").json()
    assert ([row["name"] for row in listed["items"]], listed["count"]) == (["First", "Table"], 2)
    assert {"openai", "anthropic", "google", "mistral", "openrouter"} < set(listed["types"])
    assert {"openai-compatible", "local-server", "model-hub"} < set(listed["types"])
    assert listed["labels"]["local-server"] == "Model server on this machine"
    gone = client.delete(one)
    assert (gone.status_code, gone.json()["status"]) == (200, "deleted")
    again = client.delete(one)
    assert (again.status_code, again.json()["code"]) == (404, "unknown_provider")


def test_the_models_of_a_provider_are_replaced_as_a_whole(client: Any) -> None:
    one = f"/api/providers/{add(client)['id']}/models"
    small = {"name": "Small", "model_id": "small:3b", "capabilities": ["text", "vision"], "is_default": True}
    large = {"name": "Large", "model_id": "large", "input_cost": 2.5, "output_cost": 10, "sort_order": -1}
    first = client.put(one, json={"models": [small, large]}).json()
    assert [model["model_id"] for model in first["items"]] == ["large", "small:3b"]
    assert (first["items"][0]["input_cost"], first["items"][1]["input_cost"]) == (2.5, None)
    second = client.put(one, json={"models": [{**small, "name": "Smaller"}]}).json()
    assert [(model["id"], model["name"]) for model in second["items"]] == [
        (first["items"][1]["id"], "Smaller")
    ]
    assert client.get(one).json() == {"items": second["items"], "count": 1}
    for wrong in (
        [small, small],
        [small, {**large, "is_default": True}],
        [{**small, "capabilities": ["smell"]}],
        [{**large, "input_cost": -1}],
        [{**large, "input_cost": "2"}],
    ):
        answer = client.put(one, json={"models": wrong})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request"), answer.text
    assert client.get(one).json()["count"] == 1
    assert client.get("/api/providers/none/models").status_code == 404


@pytest.mark.parametrize(
    ("stated", "status", "code"),
    [
        ({"name": "desk"}, 409, "name_taken"),
        ({"name": "Tesseract"}, 409, "name_taken"),
        ({"name": "user"}, 409, "name_taken"),
        ({"name": "two\nlines"}, 422, "invalid_request"),
        ({"name": " x"}, 422, "invalid_request"),
        ({"name": "X", "provider_type": "abacus"}, 404, "unknown_driver"),
        ({"name": "X", "provider_type": "openai-compatible"}, 422, "address_needed"),
        ({"name": "X", "api_base": "ftp://models.example/v1"}, 400, None),
        ({"name": "X", "api_base": "https://me:secret@models.example/v1"}, 400, None),
        ({"name": "X", "api_base": "https://models.example/v1?key=1"}, 422, "invalid_request"),
        ({"name": "X", "api_base": "http://169.254.169.254/v1"}, 403, "out_of_reach"),
        ({"name": "X", "api_base": "http://2852039166/v1"}, 403, "out_of_reach"),
        ({"name": "X", "api_base": "http://[::ffff:169.254.169.254]/v1"}, 403, "out_of_reach"),
        ({"name": "X", "api_base": "http://[fe80::1]/v1"}, 403, "out_of_reach"),
        ({"name": "X", "api_base": "http://0.0.0.0:8000/v1"}, 403, "out_of_reach"),
        ({"name": "X", "key": KEY}, 422, "invalid_request"),
        ({"name": "X", "has_key": True}, 422, "invalid_request"),
    ],
)
def test_what_cannot_be_a_provider_is_refused(
    client: Any, stated: Any, status: int, code: str | None
) -> None:
    add(client)
    answer = client.post("/api/providers", json={"provider_type": "local-server", **stated})
    assert (answer.status_code, answer.json().get("code")) == (status, code), answer.text
    assert "secret" not in answer.text
    assert client.get("/api/providers").json()["count"] == 1


def test_a_change_names_what_may_change(client: Any) -> None:
    one = f"/api/providers/{add(client)['id']}"
    for wrong in ({}, {"name": None}, {"enabled": None}, {"sort_order": None}, {"provider_type": "openai"}):
        assert client.patch(one, json=wrong).status_code == 422
    add(client, name="Other")
    assert client.patch(one, json={"name": "OTHER"}).json()["code"] == "name_taken"
    assert client.patch(one, json={"name": "DESK"}).json()["name"] == "DESK"


def test_a_key_is_stored_in_a_private_file_and_nowhere_else(
    client: Any, engine: Engine, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level("DEBUG")
    made = add(client)
    one = f"/api/providers/{made['id']}"
    response = client.put(f"{one}/key", json={"key": KEY})
    assert (response.status_code, response.json()["has_key"]) == (200, True)
    answers = [response.text, client.get("/api/providers").text, client.get("/api/actions/audit").text]
    assert not any(KEY in text for text in (*answers, caplog.text))
    state = engine.settings.state_dir
    (path,) = (path for path in state.rglob("*") if path.is_file() and KEY.encode() in path.read_bytes())
    assert path.parent.name == "provider-keys"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700
    with engine.state.read() as conn:
        params = (
            raw_of(conn)
            .execute("SELECT params FROM audit WHERE action_name = 'provider.set_key'")
            .fetchone()[0]
        )
    assert json.loads(params)["key"] == {"characters": len(KEY)}
    assert client.delete(f"{one}/key").json()["status"] == "deleted"
    assert [row["has_key"] for row in client.get("/api/providers").json()["items"]] == [False]
    assert not path.exists()
    assert client.delete(f"{one}/key").status_code == 200


@pytest.mark.parametrize("key", ["two\nlines", "ends\n", "with space", "", "é", "x" * 5000, "a\x00b"])
def test_a_key_that_no_header_can_carry_is_refused(client: Any, engine: Engine, key: str) -> None:
    one = f"/api/providers/{add(client)['id']}/key"
    answer = client.put(one, json={"key": key})
    assert (answer.status_code, answer.json()["code"]) == (422, "invalid_request")
    assert not key or key not in answer.text
    assert not (engine.settings.state_dir / "provider-keys").exists()


def test_another_address_discards_the_key(client: Any, engine: Engine) -> None:
    made = add(client, provider_type="openai")
    one, folder = f"/api/providers/{made['id']}", engine.settings.state_dir / "provider-keys"
    client.put(f"{one}/key", json={"key": KEY})
    for same in ({"name": "Other"}, {"api_base": None}, {"api_base": "https://api.openai.com/v1/"}):
        assert client.patch(one, json=same).json()["has_key"] is True
    assert client.patch(one, json={"api_base": "https://elsewhere.example/v1"}).json()["has_key"] is False
    assert list(folder.iterdir()) == []
    client.put(f"{one}/key", json={"key": KEY})
    assert client.patch(one, json={"api_base": None}).json()["has_key"] is False
    client.put(f"{one}/key", json={"key": KEY})
    assert client.delete(one).status_code == 200
    assert list(folder.iterdir()) == []


class FakeKeychain:
    """A keychain in memory that can be locked."""

    priority = 5

    def __init__(self) -> None:
        self.held: dict[tuple[str, str], str] = {}
        self.locked = False

    def set_password(self, service: str, username: str, password: str) -> None:
        if self.locked:
            raise RuntimeError("locked")
        self.held[service, username] = password

    def get_password(self, service: str, username: str) -> str | None:
        return self.held.get((service, username))

    def delete_password(self, service: str, username: str) -> None:
        del self.held[service, username]


def test_a_keychain_is_used_where_there_is_one(
    client: Any, engine: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    import keyring

    chain = FakeKeychain()
    monkeypatch.setattr(keyring, "get_keyring", lambda: chain)
    one = f"/api/providers/{add(client)['id']}/key"
    client.put(one, json={"key": KEY})
    assert list(chain.held.values()) == [KEY]
    assert not (engine.settings.state_dir / "provider-keys").exists()
    client.delete(one)
    assert chain.held == {}
    chain.locked = True
    assert client.put(one, json={"key": KEY}).status_code == 200
    assert len(list((engine.settings.state_dir / "provider-keys").iterdir())) == 1


def test_a_null_or_failing_keychain_is_not_used(monkeypatch: pytest.MonkeyPatch) -> None:
    import keyring

    def fail() -> Any:
        raise RuntimeError("no bus")

    assert keys.system_keychain() is None
    monkeypatch.setattr(keyring, "get_keyring", fail)
    assert keys.system_keychain() is None


def test_a_missing_key_is_reported(engine: Engine) -> None:
    for place in ("file:absent", "keychain:absent"):
        with pytest.raises(ServiceError) as caught:
            keys.fetch(engine, place, "Desk")
        assert (caught.value.status, caught.value.code) == (409, "key_lost")


def test_providers_are_the_owners(client: Any, engine: Engine) -> None:
    made = add(client)
    agent = client.post("/api/tokens", json={"name": "night reader", "role": "editor"}).json()["token"]
    client.headers["Authorization"] = f"Bearer {agent}"
    one = f"/api/providers/{made['id']}"
    asked = (
        client.get("/api/providers"),
        client.get(f"{one}/models"),
        client.post("/api/providers", json={"name": "X", "provider_type": "local-server"}),
        client.patch(one, json={"enabled": False}),
        client.delete(one),
        client.put(f"{one}/models", json={"models": []}),
        client.put(f"{one}/key", json={"key": KEY}),
        client.delete(f"{one}/key"),
    )
    assert [answer.status_code for answer in asked] == [403] * len(asked)


def test_writes_of_providers_are_not_undone(client: Any) -> None:
    answer = client.post(f"/api/actions/audit/{add(client)['audit_id']}/undo")
    assert (answer.status_code, answer.json()["reason"]) == (409, "not-undoable")


class Strange(Params):
    """A class that is no provider type."""


def test_a_driver_that_is_no_provider_type(engine: Engine, tmp_path: Path) -> None:
    engine.drivers.give(GROUP, "strange", Strange)
    with pytest.raises(ServiceError, match="is not a provider type"):
        provider_type(engine, "strange")
    with pytest.raises(NotFound, match="Installed: anthropic, google"):
        provider_type(engine, "nobody")
    assert isinstance(provider_type(engine, "openai"), ProviderType)
    check = next(plugin for plugin in engine.plugins.loaded if plugin.name == "reading").check_driver
    assert check is not None
    assert "not a class derived from ProviderType" in str(check(GROUP, "strange", Strange))
    assert "calls itself openai-compatible" in str(
        check(GROUP, "x", provider_type(engine, "openai").__class__.__base__)
    )


def test_the_loopback_provider_is_made_by_actions(engine: Engine, provider: LoopbackProvider) -> None:
    provider.add_to(engine, "Loopback")
    with engine.state.read() as conn:
        names = [row[0] for row in raw_of(conn).execute("SELECT action_name FROM audit ORDER BY seq")]
    assert names[-3:] == ["provider.create", "provider.set_models", "provider.set_key"]
    assert LOCAL_OWNER.may("owner")


def test_a_server_of_this_machine_or_of_a_private_network_may_be_a_provider(client: Any) -> None:
    for number, host in enumerate(
        ("127.0.0.1:1234", "localhost:1234", "[::1]:1234", "10.0.0.7", "192.168.1.4:8000", "models.example")
    ):
        body = {
            "name": f"Server {number}",
            "provider_type": "local-server",
            "api_base": f"http://{host}/v1",
        }
        answer = client.post("/api/providers", json=body)
        assert answer.status_code == 200, answer.text
        moved = client.patch(
            f"/api/providers/{answer.json()['id']}", json={"api_base": "http://169.254.169.254/v1"}
        )
        assert (moved.status_code, moved.json()["code"]) == (403, "out_of_reach")
