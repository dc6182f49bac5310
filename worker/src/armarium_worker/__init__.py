"""The framed protocol that the engine and its worker processes speak, and the contracts of readers, transcribers
and embedders; no dependencies.

This distribution runs on both sides: in the engine (`WorkerProcess`) and inside a runtime's own interpreter
(`serve`), where nothing else of Armarium is installed. So it imports the standard library only.
"""

from .checkpoints import TrainingState as TrainingState
from .client import NO_REPORTS as NO_REPORTS
from .client import WorkerProcess as WorkerProcess
from .distance import distance as distance
from .epochs import EpochTrainer as EpochTrainer
from .epochs import no_room as no_room
from .epochs import write_whole as write_whole
from .errors import ProtocolError as ProtocolError
from .errors import Refused as Refused
from .errors import WorkerDied as WorkerDied
from .errors import WorkerError as WorkerError
from .errors import WorkerFailed as WorkerFailed
from .errors import WorkerRefused as WorkerRefused
from .errors import WorkerStopped as WorkerStopped
from .errors import WorkerTimeout as WorkerTimeout
from .files import replacing as replacing
from .frames import MAX_BINARY as MAX_BINARY
from .frames import MAX_JSON as MAX_JSON
from .frames import Frame as Frame
from .frames import read_frame as read_frame
from .frames import write_frame as write_frame
from .graphemes import graphemes as graphemes
from .passages import PassageEmbedder as PassageEmbedder
from .pictures import flatten_image as flatten_image
from .reading import Capability as Capability
from .reading import ModelFile as ModelFile
from .reading import OfferedModel as OfferedModel
from .reading import Reader as Reader
from .reading import RemoteFile as RemoteFile
from .reading import Runtime as Runtime
from .server import Call as Call
from .server import Handler as Handler
from .server import WorkerContext as WorkerContext
from .server import serve as serve
from .shapes import FoundLine as FoundLine
from .shapes import LinePlaces as LinePlaces
from .shapes import LineReading as LineReading
from .shapes import LineShape as LineShape
from .shapes import Page as Page
from .shapes import Point as Point
from .shapes import ReadLine as ReadLine
from .signs import Sign as Sign
from .signs import places_of_signs as places_of_signs
from .speech import SpokenLine as SpokenLine
from .speech import Transcriber as Transcriber
from .speech import Transcript as Transcript
