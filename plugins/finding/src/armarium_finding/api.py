"""What other families may use of finding: how to add rows to the table of cues."""

from __future__ import annotations

from armarium_finding.cues import BUILTIN, NAME, Cue, CueTable, Party

__all__ = ["BUILTIN", "NAME", "Cue", "CueTable", "Party"]
