"""Power cuts: a separate file system is shut down under the working engine, mounted again and checked.

    python power.py MODULE:NAME FOLDER --cuts N [--seed S]      (root on Linux)

The file system is an ext4 image mounted through a loop device. A cut shuts it down without flushing its journal, so
what was written and not synced is lost, as when the power fails. Prints the report of `armarium_testing.faults`.
"""

from __future__ import annotations

import argparse
import fcntl
import importlib
import json
import os
import struct
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

from armarium_testing.faults import Striker, Workload

GOING_DOWN = 0x8004587D
"""The ioctl that shuts a file system down (ext4 and xfs)."""
WITHOUT_FLUSHING = 2
IMAGE_MIB = 192


def why_not() -> str | None:
    """Return why power cannot be cut here, or None where it can."""
    if sys.platform != "linux" or os.geteuid() != 0:
        return "cutting the power needs root on Linux"
    if not Path("/dev/loop-control").exists():
        return "there are no loop devices here"
    for tool in ("mkfs.ext4", "mount", "umount"):
        if subprocess.run(["which", tool], capture_output=True).returncode != 0:
            return f"{tool} is not installed here"
    return None


class PowerCuts(Striker):
    """Interrupts a workload by cutting the power of the file system on which it works."""

    last_words_count = False
    """Words said after the cut do not count: a sync that the cut overtakes may answer as if it had been made."""

    def __init__(self, workload: Workload, folder: Path, *, seed: int = 0) -> None:
        folder.mkdir(parents=True)
        self.image = folder / "disk.img"
        self.mounted = folder / "disk"
        self.mounted.mkdir()
        with self.image.open("wb") as file:
            file.truncate(IMAGE_MIB << 20)
        subprocess.run(["mkfs.ext4", "-q", "-F", str(self.image)], check=True)
        self._mount()
        super().__init__(workload, self.mounted / "rounds", seed=seed)

    def _mount(self) -> None:
        subprocess.run(["mount", "-o", "loop", str(self.image), str(self.mounted)], check=True)

    def strike_down(self, child: int) -> None:
        """Cut the power, and only then end the process, which cannot write any more."""
        descriptor = os.open(self.mounted, os.O_RDONLY)
        try:
            fcntl.ioctl(descriptor, GOING_DOWN, struct.pack("I", WITHOUT_FLUSHING))
        finally:
            os.close(descriptor)
        super().strike_down(child)

    def _copy(self) -> Path:
        place = super()._copy()
        os.sync()
        return place

    def _look_over(self, place: Path, acknowledged: list[str], what: str) -> None:
        subprocess.run(["umount", str(self.mounted)], check=True)
        self._mount()
        super()._look_over(place, acknowledged, what.replace("kill", "power cut"))

    def close(self) -> None:
        """Unmount the file system."""
        subprocess.run(["umount", str(self.mounted)], check=False)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the program described above."""
    parser = argparse.ArgumentParser(prog="power")
    parser.add_argument("workload")
    parser.add_argument("folder", type=Path)
    parser.add_argument("--cuts", type=int, default=10)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args(arguments)
    module, _, name = options.workload.partition(":")
    cuts = PowerCuts(getattr(importlib.import_module(module), name), options.folder, seed=options.seed)
    try:
        cuts.at_random(options.cuts)
    finally:
        cuts.close()
    print(json.dumps(cuts.report.__dict__))
    return 0


if __name__ == "__main__":
    sys.exit(main())
