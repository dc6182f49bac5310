"""Names that people give hold no line breaks and no control characters, whatever they name."""

from __future__ import annotations

from pydantic import ValidationError

from armarium.api import Engine

NAMED = {"name", "title", "label", "canonical_name", "display_name", "site_title", "device_name"}
OF_A_FILE = {"project.decide_file name"}
"""Names what there is already, and is refused as unknown."""


def test_no_name_of_any_action_takes_a_line_break(engine: Engine) -> None:
    taken = []
    for action in engine.actions.all():
        for field in NAMED & action.params.model_fields.keys():
            try:
                action.params.model_validate({field: "a\nb"})
                refused = set()
            except ValidationError as error:
                refused = {found["loc"][0] for found in error.errors() if found["loc"]}
            if field not in refused:
                taken.append(f"{action.name} {field}")
    assert set(taken) == OF_A_FILE
