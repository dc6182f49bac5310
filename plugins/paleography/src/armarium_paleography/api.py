"""What other families may use of paleography: its tables, and the records about segments."""

from armarium_paleography.records.hands import attributions as attributions
from armarium_paleography.records.hands import campaigns as campaigns
from armarium_paleography.records.hands import hands as hands
from armarium_paleography.records.hands import members as members
from armarium_paleography.records.marks import allographs as allographs
from armarium_paleography.records.marks import facts as facts
from armarium_paleography.records.marks import instances as instances
from armarium_paleography.records.marks import letterforms as letterforms
from armarium_paleography.records.marks import signs as signs
