"""What other families may use of finding: how to add rows to the table of cues."""

from armarium_finding.cues import BUILTIN as BUILTIN
from armarium_finding.cues import NAME as NAME
from armarium_finding.cues import Cue as Cue
from armarium_finding.cues import CueTable as CueTable
from armarium_finding.cues import Party as Party
