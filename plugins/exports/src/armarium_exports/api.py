"""What other families may use of exports: the type of what they answer to `armarium_exports_records`."""

from armarium_exports.hookspecs import Contribution as Contribution
