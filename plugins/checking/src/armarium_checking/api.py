"""What other families may use of checking: the contract for a layer of their own, and the verdicts."""

from armarium_checking.hookspecs import CheckPage as CheckPage
from armarium_checking.hookspecs import Layer as Layer
from armarium_checking.hookspecs import Opinion as Opinion
from armarium_checking.hookspecs import PagePart as PagePart
from armarium_checking.hookspecs import Proposal as Proposal
from armarium_checking.hookspecs import Target as Target
from armarium_checking.records.checks import verdicts as verdicts
