"""What other families may use of a canvas: its tables, and the contents of a folder's canvas."""

from armarium_canvas.queries import layout as layout
from armarium_canvas.records import items as items
from armarium_canvas.records import places as places
