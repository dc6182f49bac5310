"""The workflow for a forge: valid by the published schema, on every Python that the metadata name, with nothing foreign."""

from __future__ import annotations

import json
import os
import re
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import jsonschema
import pytest
import yaml

import bootstrap
from checkout import ROOT, Dist, text

WORKFLOW = ROOT / ".github" / "workflows" / "ci.yml"


@pytest.fixture
def jobs() -> dict[str, Any]:
    found_jobs: dict[str, Any] = yaml.safe_load(text(WORKFLOW))["jobs"]
    return found_jobs


def test_it_is_valid_by_the_published_schema() -> None:
    carried = find_spec("check_jsonschema")
    if carried is None or carried.origin is None:
        pytest.skip("check-jsonschema is not in this environment, which brings the schema")
    schemas = Path(carried.origin).parent / "builtin_schemas" / "vendor"
    schema = json.loads((schemas / "github-workflows.json").read_text(encoding="utf-8"))
    # YAML 1.1 reads the key `on` as a truth value.
    stated = {"on" if key is True else key: value for key, value in yaml.safe_load(text(WORKFLOW)).items()}
    jsonschema.validate(stated, schema)
    with pytest.raises(jsonschema.ValidationError):
        jsonschema.validate({**stated, "jobs": {"test": {"steps": []}}}, schema)


def test_what_ci_runs_is_run_on_every_system_and_python_that_the_metadata_name(jobs: dict[str, Any]) -> None:
    matches = re.findall(r"Python :: (3\.\d+)", "\n".join(Dist(ROOT).project["classifiers"]))
    matrix = jobs["test"]["strategy"]["matrix"]
    assert matrix["python"] == matches
    assert [name.split("-")[0] for name in matrix["os"]] == ["ubuntu", "macos"]
    assert [step["run"] for step in jobs["test"]["steps"] if "run" in step] == [".ci/run"]
    assert os.access(ROOT / ".ci" / "run", os.X_OK)
    # Of a Mac, what the setup accepts.
    bootstrap.refuse_a_mac_without_builds("Darwin", matrix["os"][1].split("-")[1], "arm64", (3, 14))


def test_the_release_is_built_only_of_a_tag_that_passed(jobs: dict[str, Any]) -> None:
    release = jobs["release"]
    assert release["needs"] == "test"
    assert "refs/tags/v" in release["if"]
    assert "make release" in [step.get("run") for step in release["steps"]]


def test_it_takes_actions_of_a_version_and_no_secret(jobs: dict[str, Any]) -> None:
    uses = [step["uses"] for job in jobs.values() for step in job["steps"] if "uses" in step]
    assert all(re.fullmatch(r"actions/[a-z-]+@v\d+", item) for item in uses)
    assert "secrets" not in text(WORKFLOW)
