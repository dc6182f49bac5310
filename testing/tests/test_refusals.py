"""A refusal that no test produces is named, wherever and however the source creates it."""

from __future__ import annotations

import importlib
import subprocess
import sys
from pathlib import Path

import pytest

from armarium_testing.refusals import listening, never_made

SOURCE = """
from armarium.errors import Conflict, Invalid


class Odd(Invalid):
    def __init__(self, number):
        super().__init__(f"{number} is odd.", code="odd")


class Late(Conflict):
    pass


def asked(number):
    if number == 1:
        raise Odd(number)
    if number == 2:
        raise Late(
            "It is too late."
        )
    if number == 3:
        return Invalid("Three.", code="three")
    from armarium.errors import NotFound
    raise NotFound("Nothing.")
"""

DECLARED = """
from armarium.errors import Invalid, NotFound

gone = NotFound.saying("gone", "{thing!r} is gone from {place}.", id="thing")
odd = Invalid.saying(
    "odd",
    "{number:,} is odd {{here}}.",
)
"""


@pytest.fixture
def refusing_package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a package that refuses."""
    name = "refusing_package"
    (tmp_path / name / "inner").mkdir(parents=True)
    (tmp_path / name / "__init__.py").touch()
    (tmp_path / name / "inner" / "__init__.py").touch()
    (tmp_path / name / "inner" / "asking.py").write_text(SOURCE)
    monkeypatch.syspath_prepend(str(tmp_path))
    for module in [module for module in sys.modules if module.partition(".")[0] == name]:
        monkeypatch.delitem(sys.modules, module)
    return name


def test_each_place_that_was_not_met_is_named(refusing_package: str) -> None:
    package = importlib.import_module(refusing_package)
    asking = importlib.import_module(f"{refusing_package}.inner.asking")
    assert never_made(package, set()) == [
        "inner/asking.py:7 Odd",
        "inner/asking.py:16 Odd",
        "inner/asking.py:18 Late",
        "inner/asking.py:22 Invalid",
        "inner/asking.py:24 NotFound",
    ]
    with listening() as made:
        with pytest.raises(asking.Odd, match="1 is odd"):
            asking.asked(1)
        with pytest.raises(asking.Late):
            asking.asked(2)
        asking.asked(3)
    assert never_made(package, made) == ["inner/asking.py:24 NotFound"]
    asking.asked(3)
    assert len(made) == 4, "nothing is heard afterwards"


def test_refusals_declared_as_data_say_what_they_are_told_and_are_named_where_none_was_made(
    refusing_package: str, tmp_path: Path
) -> None:
    (tmp_path / refusing_package / "inner" / "asking.py").write_text(DECLARED)
    package = importlib.import_module(refusing_package)
    asking = importlib.import_module(f"{refusing_package}.inner.asking")
    both = ["inner/asking.py:4 NotFound.saying", "inner/asking.py:5 Invalid.saying"]
    assert never_made(package, set()) == both
    with listening() as made:
        refused = asking.gone("x", "the box")
    assert refused.status == 404
    assert refused.body() == {"detail": "'x' is gone from the box.", "code": "gone", "id": "x"}
    assert never_made(package, made) == both[1:]
    assert asking.odd(number=1001).detail == "1,001 is odd {here}."
    assert asking.gone("x", ["the box", "the shelf"]).detail == "'x' is gone from the box, the shelf."
    assert asking.gone("x", iter(())).detail == "'x' is gone from none."
    for told in ((), (1, 2)):
        with pytest.raises(TypeError, match="the refusal odd is told number"):
            asking.odd(*told)


@pytest.mark.slow
@pytest.mark.parametrize("workers", ["0", "2"])
def test_a_run_fails_that_leaves_a_refusal_out(refusing_package: str, tmp_path: Path, workers: str) -> None:
    tests = tmp_path / "test_asking.py"

    def run_tests(numbers: str) -> tuple[int, str]:
        tests.write_text(
            "import pytest\n"
            f"from {refusing_package}.inner.asking import asked\n"
            "from armarium.errors import ServiceError\n"
            f"@pytest.mark.parametrize('number', {numbers})\n"
            "def test_it(number):\n"
            "    with pytest.raises(ServiceError):\n"
            "        raise asked(number)\n"
        )
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-n", workers]
        process = subprocess.run(
            [*command, "--every-refusal", refusing_package, str(tests)],
            cwd=tmp_path,
            env={"PYTHONPATH": str(tmp_path), "PATH": "/usr/bin:/bin"},
            capture_output=True,
            text=True,
            timeout=120,
            check=False,
        )
        return process.returncode, process.stdout

    assert run_tests("[1, 2, 3, 4]")[0] == 0
    code, said = run_tests("[1, 2, 3]")
    assert code == 1
    assert f"refusals of {refusing_package} that no test produces" in said
    assert "inner/asking.py:24 NotFound" in said
    assert "inner/asking.py:22" not in said
