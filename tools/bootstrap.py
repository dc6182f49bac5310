"""Makes `.venv` of this checkout ready: an environment, the locked packages, our own dists editable.

Run by the Makefile as `python3 tools/bootstrap.py base|dev`; standard library only, because nothing else is installed
yet. Running it again when nothing changed costs a hash of a few files. It names no package registry: packages come from
wherever this machine's pip and uv are configured to look.
"""

from __future__ import annotations

import contextlib
import fcntl
import hashlib
import os
import platform
import shutil
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
VENV = ROOT / ".venv"
PYTHON = VENV / "bin" / "python"
UV = VENV / "bin" / "uv"
REQUIREMENTS = ROOT / "requirements"
PROFILES = ("base", "dev")  # each contains all of the one before it
INSTALLERS = REQUIREMENTS / "installers.txt"
TESTING = "testing"  # the test harness: no part of a user's installation
RELEASE = (
    REQUIREMENTS / "release.txt"
)  # what `make release` checks the distributions with, in an environment of its own
ALONE = REQUIREMENTS / "alone.txt"  # installed for their files, without their dependencies; only for tests


class SetupFailed(Exception):
    """The environment cannot be created here; the text says what to do."""


def workspace_members() -> list[Path]:
    """Folders of our own dists, the meta-distribution last."""
    patterns = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["uv"]["workspace"]["members"]
    parents = {folder.parent for pattern in patterns for folder in ROOT.glob(f"{pattern}/pyproject.toml")}
    return [*sorted(parents), ROOT]


def fingerprint(profile: str) -> str:
    """Return a text that changes when the lock, a pyproject, the interpreter or the place of the checkout does."""
    digest = hashlib.sha256(f"{ROOT}\n{sys.version}\n".encode())
    watched = [*locks(profile), INSTALLERS, Path(__file__)]
    for path in [*watched, *(member / "pyproject.toml" for member in workspace_members())]:
        digest.update(f"{path.relative_to(ROOT)}\n".encode() + path.read_bytes())
    return f"{ROOT}\n{digest.hexdigest()}\n"


def locks(profile: str) -> list[Path]:
    return [REQUIREMENTS / f"{profile}.txt", *([ALONE] if profile == "dev" else [])]


def stamp(profile: str) -> Path:
    return VENV / f".armarium-{profile}"


def is_ready(profile: str) -> bool:
    wide_enough = PROFILES[PROFILES.index(profile) :]
    return PYTHON.exists() and any(
        stamp(name).exists() and stamp(name).read_text() == fingerprint(name) for name in wide_enough
    )


@contextlib.contextmanager
def one_at_a_time() -> Iterator[None]:
    """Make two `make` runs in one checkout wait for each other."""
    with (ROOT / ".venv.lock").open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield


def say(text: str) -> None:
    print(f"armarium setup: {text}", file=sys.stderr, flush=True)


Command = Sequence[str | Path]


def succeeds(command: Command) -> bool:
    return run(command, quiet=True).returncode == 0


def run(
    command: Command, *, quiet: bool = False, env: Mapping[str, str] = {}
) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [str(part) for part in command],
        cwd=ROOT,
        env={**os.environ, **env},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL if quiet else None,
        stderr=subprocess.DEVNULL if quiet else None,
        check=False,
    )


def refuse_a_mac_without_builds(system: str, release: str, machine: str, python: tuple[int, ...]) -> None:
    """Raise SetupFailed on a Mac for which some locked package has no build; none could be made from source there."""
    if system != "Darwin":
        return
    if release and int(release.split(".")[0]) < 15:
        raise SetupFailed(
            f"this Mac runs macOS {release}, and the reader Tesseract is built for macOS 15 and newer. Update macOS."
        )
    if machine == "x86_64" and python >= (3, 14):
        raise SetupFailed(
            "the default reader has no build for Intel Macs with Python 3.14. Install Python 3.13 and run "
            "make PYTHON=python3.13."
        )


# -- the environment itself ---------------------------------------------------------------------------------------


def make_environment() -> None:
    """Create a working `.venv`, with pip where Python includes it; a broken or moved one is recreated."""
    moved = any(s.exists() and s.read_text().split("\n")[0] != str(ROOT) for s in map(stamp, PROFILES))
    if (
        not moved
        and PYTHON.exists()
        and succeeds([PYTHON, "-c", "import sys; assert sys.version_info >= (3, 11)"])
    ):
        return
    shutil.rmtree(VENV, ignore_errors=True)
    say(f"making .venv with {sys.executable} ({sys.version.split()[0]})")
    if succeeds([sys.executable, "-m", "venv", VENV]):
        return
    # Debian packages pip's wheel separately, and `venv` stops without it
    shutil.rmtree(VENV, ignore_errors=True)
    if not succeeds([sys.executable, "-m", "venv", "--without-pip", VENV]):
        raise SetupFailed(
            f"{sys.executable} has no working `venv` module. Install Python 3.11 or newer with its standard library "
            "(on Debian: apt-get install python3 python3-venv) and run make again."
        )


def pip_commands(scratch: Path) -> Iterator[list[str | Path]]:
    """Return ways to run pip for `.venv`, the cheapest first; a later one is tried when those before it fail."""
    if succeeds([PYTHON, "-m", "pip", "--version"]):
        yield [PYTHON, "-m", "pip"]
    if succeeds([sys.executable, "-m", "pip", "--python", PYTHON, "--version"]):
        yield [sys.executable, "-m", "pip", "--python", PYTHON]
    for wheel in sorted(Path("/usr/share/python-wheels").glob("pip-*.whl")):
        yield [PYTHON, wheel / "pip"]
    if shutil.which("apt-get") and shutil.which("dpkg-deb"):
        say(
            "this Python comes without pip: taking Debian's pip wheel, without installing anything on the system"
        )
        for wheel in debian_pip_wheels(scratch):
            yield [PYTHON, wheel / "pip"]
        if administrator := become_root():
            say("installing Debian's python3-venv")
            apt = [*administrator, "env", "DEBIAN_FRONTEND=noninteractive", "apt-get"]
            succeeds([*apt, "update"])
            succeeds([*apt, "install", "-y", "python3-venv"])
            for wheel in sorted(Path("/usr/share/python-wheels").glob("pip-*.whl")):
                yield [PYTHON, wheel / "pip"]


def debian_pip_wheels(scratch: Path) -> Iterator[Path]:
    """Extract the pip wheel from the package python3-pip-whl, fetched by apt into a folder of ours: no root needed."""
    scratch.chmod(0o755)  # apt fetches as its own user when root asks
    (lists := scratch / "lists" / "partial").mkdir(parents=True)
    (cache := scratch / "cache" / "archives" / "partial").mkdir(parents=True)
    ours = [
        *("-o", f"Dir::State::Lists={lists.parent}", "-o", f"Dir::Cache={cache.parent.parent}"),
        *("-o", "Acquire::Languages=none", "-o", "APT::Sandbox::User="),
    ]
    into = ["sh", "-c", 'cd "$0" && exec "$@"', str(scratch)]
    if not succeeds([*into, "apt-get", "download", "python3-pip-whl"]):
        succeeds(["apt-get", *ours, "update"])
        succeeds([*into, "apt-get", *ours, "download", "python3-pip-whl"])
    for package in scratch.glob("python3-pip-whl*.deb"):
        succeeds(["dpkg-deb", "-x", package, scratch / "unpacked"])
        yield from sorted((scratch / "unpacked").glob("usr/share/python-wheels/pip-*.whl"))


def become_root() -> list[str] | None:
    if os.geteuid() == 0:
        return []
    return ["sudo", "-n"] if shutil.which("sudo") and succeeds(["sudo", "-n", "true"]) else None


# -- what goes into it --------------------------------------------------------------------------------------------


def install_installers() -> None:
    """Install pip and uv into `.venv`, at the locked versions."""
    with tempfile.TemporaryDirectory(prefix="armarium-setup-") as scratch:
        for pip in pip_commands(Path(scratch)):
            command = [
                *pip,
                "install",
                "--quiet",
                "--disable-pip-version-check",
                "--require-hashes",
                "-r",
                INSTALLERS,
            ]
            if run(command).returncode == 0:
                return
    if succeeds([PYTHON, "-m", "pip", "--version"]):
        say("uv could not be installed here: pip is used instead, which is slower")
        return
    raise SetupFailed(
        "there is no pip for this Python, or it reached no package index. On Debian: apt-get install python3-venv "
        "(as root), see that the machine is online, and run make again."
    )


def uv_environment() -> dict[str, str]:
    """Return this machine's settings of pip for indexes and certificates in uv's terms; uv reads none of pip's files."""
    process = subprocess.run(
        [PYTHON, "-m", "pip", "config", "list"], capture_output=True, text=True, check=False
    )
    told = dict(line.split("=", 1) for line in process.stdout.splitlines() if "=" in line)
    settings = {name.rsplit(".", 1)[-1]: value.strip("'\"") for name, value in told.items()}
    words = {"index-url": "UV_DEFAULT_INDEX", "cert": "SSL_CERT_FILE"}
    return {word: settings[pip] for pip, word in words.items() if pip in settings and word not in os.environ}


def install_packages(profile: str) -> None:
    """Install the locked packages, then our own dists as they are in this checkout."""
    locked = [
        ["--require-hashes", *(["--no-deps"] if lock == ALONE else []), "-r", str(lock)]
        for lock in locks(profile)
    ]
    members = [member for member in workspace_members() if profile == "dev" or member.name != TESTING]
    ours = [part for member in members for part in ("-e", str(member))]
    steps = [*locked, ["--no-deps", "--no-build-isolation", *ours]]
    uv = [str(UV), "pip", "install", "--quiet", "--python", str(PYTHON)]
    if succeeds([UV, "--version"]):
        if all(run([*uv, *step], env=uv_environment()).returncode == 0 for step in steps):
            return
        say("uv failed; trying the same with pip")
    pip = [str(PYTHON), "-m", "pip", "install", "--quiet", "--disable-pip-version-check"]
    if not all(run([*pip, *step]).returncode == 0 for step in steps):
        raise SetupFailed(
            "the packages could not be installed; pip's message is above. Fix that (most often the machine is "
            "offline or the disk is full) and run make again: it goes on where it stopped."
        )


def build_workbench() -> None:
    """Build the web application, unless it is there as its sources are now; where that fails, the rest works without."""
    script = ROOT / "plugins" / "workbench" / "build_app.py"
    if script.exists() and run([PYTHON, script]).returncode != 0:
        say("all else works; make base tries to build the workbench again.")


def main(arguments: Sequence[str]) -> int:
    profile = arguments[0] if arguments else "base"
    if profile not in PROFILES or sys.version_info < (3, 11):
        print(
            f"usage: python3 tools/bootstrap.py [{'|'.join(PROFILES)}] with Python 3.11 or newer",
            file=sys.stderr,
        )
        return 2
    try:
        refuse_a_mac_without_builds(
            platform.system(), platform.mac_ver()[0], platform.machine(), sys.version_info[:2]
        )
        with one_at_a_time():
            if fresh := not is_ready(profile):
                make_environment()
                say(f"installing the {profile} packages")
                install_installers()
                install_packages(profile)
                stamp(profile).write_text(fingerprint(profile))
            build_workbench()
    except SetupFailed as failure:
        say(str(failure))
        return 1
    if fresh:
        say("ready")
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
