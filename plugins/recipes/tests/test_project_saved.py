"""The project's recipe is saved as rows: parts, versions, overrides, undo."""

from __future__ import annotations

from typing import Any

from armarium.api import Engine, Library
from armarium_recipes.actions.setup import example_answers, example_recipe

URL = "/api/recipes/project"


def _put(client: Any, body: dict[str, Any], status: int = 200) -> dict[str, Any]:
    answer = client.put(URL, json=body)
    assert answer.status_code == status, answer.text
    found_answer: dict[str, Any] = answer.json()
    return found_answer


def test_a_new_project_has_neither_answers_nor_a_recipe(client: Any) -> None:
    answer = client.get(URL).json()
    assert (answer["answers"], answer["recipe"], answer["overrides"]) == (None, None, [])


def test_a_part_left_out_stays_and_an_explicit_null_removes_it(client: Any) -> None:
    _put(client, {"answers": example_answers()})
    _put(client, {"recipe": example_recipe()})
    answer = client.get(URL).json()
    assert answer["answers"]["languages"] == ["en"]
    assert [step["id"] for step in answer["recipe"]["steps"]] == ["find-lines", "order"]
    _put(client, {"answers": None})
    answer = client.get(URL).json()
    assert answer["answers"] is None
    assert answer["recipe"] is not None


def test_the_version_rises_by_one_on_each_changed_save_and_not_on_an_unchanged_one(client: Any) -> None:
    """The version that a caller sends is ignored."""
    first = _put(client, {"recipe": {**example_recipe(), "version": 9}})
    assert first["recipe"]["version"] == 1
    same = _put(client, {"recipe": {**example_recipe(), "version": 4}})
    assert same["recipe"]["version"] == 1
    changed = _put(client, {"recipe": {**example_recipe(), "title": "Letters of a ship"}})
    assert changed["recipe"]["version"] == 2
    assert changed["audit_id"]


def test_a_save_is_undone_and_the_version_is_never_given_twice(client: Any) -> None:
    """Undoing a save is a change as well, and gets its own version."""
    _put(client, {"recipe": example_recipe()})
    second = _put(client, {"recipe": {**example_recipe(), "title": "Second"}})
    assert client.post("/api/actions/audit/undo", json={"audit_ids": [second["audit_id"]]}).status_code == 200
    back = client.get(URL).json()["recipe"]
    assert back["title"] == "Typed letters"
    assert back["version"] > second["recipe"]["version"]


def test_overrides_say_who_set_them_and_when(client: Any) -> None:
    """The server sets both; what the body says of them is ignored."""
    folder = client.post("/api/documents", json={"name": "Box 1", "doc_type": "folder"}).json()["id"]
    card = {"id": "rapidocr:latin@1", "source": "shipped"}
    one = {"scope": "folder", "folder_id": folder, "step": "read", "card": card, "set_by": "somebody else"}
    saved = _put(client, {"recipe": example_recipe(), "overrides": [one]})["overrides"]
    assert saved[0]["set_by"] != "somebody else"
    assert saved[0]["set_at"]
    again = _put(client, {"overrides": saved})
    assert again["overrides"] == saved
    assert again["recipe"]["version"] == 1


def test_an_override_of_a_deleted_folder_is_refused(client: Any) -> None:
    """Deleted, or never there; an override that was set before remains, without effect."""
    folder = client.post("/api/documents", json={"name": "Box 1", "doc_type": "folder"}).json()["id"]
    card = {"id": "rapidocr:latin@1", "source": "shipped"}
    one = {"scope": "folder", "folder_id": folder, "step": "read", "card": card}
    overrides = _put(client, {"overrides": [one]})["overrides"]
    assert client.delete(f"/api/documents/{folder}").status_code == 200
    assert _put(client, {"overrides": overrides})["overrides"] == overrides
    other = {**one, "step": "find-lines"}
    assert _put(client, {"overrides": [*overrides, other]}, 404)["code"] == "folder_not_found"


def test_overrides_that_do_not_fit_are_refused(client: Any) -> None:
    """Two for one place, a folder override without its id, a folder id on a project override, a page instead of a
    folder.
    """
    card = {"id": "rapidocr:latin@1", "source": "shipped"}
    one = {"scope": "project", "step": "read", "card": card}
    assert _put(client, {"overrides": [one, one]}, 422)["code"] == "override_twice"
    assert _put(client, {"overrides": [{**one, "scope": "folder"}]}, 422)["code"] == "override_without_folder"
    assert _put(client, {"overrides": [{**one, "folder_id": "x"}]}, 422)["code"] == "override_without_folder"
    page = client.post("/api/documents", json={"name": "1", "doc_type": "page"}).json()["id"]
    beneath = {**one, "scope": "folder", "folder_id": page}
    assert _put(client, {"overrides": [beneath]}, 422)["code"] == "no_folder"


def test_unknown_fields_and_an_empty_body_are_refused(client: Any) -> None:
    """Within a step as well."""
    assert _put(client, {}, 422)["code"] == "invalid_request"
    recipe = example_recipe()
    recipe["steps"][0]["command"] = "rm"
    assert _put(client, {"recipe": recipe}, 422)["code"] == "invalid_request"


def test_a_secret_nine_levels_deep_is_refused(client: Any) -> None:
    """Settings have no fixed form, so keys in them are searched for at any depth."""
    deep: Any = {"api_key": "sk-1"}
    for _ in range(8):
        deep = {"more": deep}
    recipe = example_recipe()
    recipe["steps"][0]["settings"] = deep
    assert _put(client, {"recipe": recipe}, 422)["code"] == "malformed_recipe"


def test_a_prompt_outside_the_recipe_folder_is_refused(client: Any) -> None:
    recipe = example_recipe()
    recipe["steps"][0]["prompt"] = "../../secrets.txt"
    assert _put(client, {"recipe": recipe}, 422)["code"] == "malformed_recipe"


def test_the_nearest_folder_with_an_override_wins(engine: Engine, library: Library, client: Any) -> None:
    """Of two nested folders the inner one's override applies to the page; elsewhere the project's does."""
    from armarium_documents.api import ancestor_ids
    from armarium_recipes.project.saving import nearest, read_saved

    def new(name: str, kind: str, parent: str | None = None) -> str:
        body = {"name": name, "doc_type": kind, "parent_id": parent}
        response: str = client.post("/api/documents", json=body).json()["id"]
        return response

    outer = new("Box", "folder")
    inner = new("Bundle", "folder", outer)
    page, beside, far = new("1", "page", inner), new("2", "page", outer), new("3", "page")
    cards = {one: {"id": f"rapidocr:{one}@1", "source": "shipped"} for one in ("all", "outer", "inner")}
    places = [
        {"scope": "project", "step": "read", "card": cards["all"]},
        {"scope": "folder", "folder_id": outer, "step": "read", "card": cards["outer"]},
        {"scope": "folder", "folder_id": inner, "step": "read", "card": cards["inner"]},
    ]
    _put(client, {"recipe": example_recipe(), "overrides": places})
    with library.db.read() as conn:
        saved = read_saved(conn).overrides
        chosen = [nearest(saved, "read", ancestor_ids(conn, one)) for one in (page, beside, far)]
        assert nearest(saved, "find-lines", ancestor_ids(conn, page)) is None
    assert [one.id for one in chosen if one] == ["rapidocr:inner@1", "rapidocr:outer@1", "rapidocr:all@1"]
