"""What other families and the authors of readers and provider types may import: the one way to ask a model
(`ask`), the two contracts with their test suites, and the ledger.

The contract itself lives in `armarium_worker`, which a reader's own runtime has too; a driver that runs in a
runtime imports it from there.
"""

from armarium_reading import readers
from armarium_reading.caller import Caller as Caller
from armarium_reading.caller import Subject as Subject
from armarium_reading.corrections import Standing as Standing
from armarium_reading.corrections import standing_of as standing_of
from armarium_reading.hookspecs import OwnReader as OwnReader
from armarium_reading.line_pictures import cut_line as cut_line
from armarium_reading.local_models import going_download as going_download
from armarium_reading.models import episodes as episodes
from armarium_reading.overrides import READING_PORTS as READING_PORTS
from armarium_reading.overrides import provider_settings as provider_settings
from armarium_reading.overrides import takes_provider as takes_provider
from armarium_reading.prompts import own_prompt as own_prompt
from armarium_reading.providers.asking import ModelAnswer as ModelAnswer
from armarium_reading.providers.asking import ModelRequest as ModelRequest
from armarium_reading.providers.asking import ask as ask
from armarium_reading.providers.asking import ask_for_vectors as ask_for_vectors
from armarium_reading.providers.following import MODEL_DELTA as MODEL_DELTA
from armarium_reading.providers.following import follow_answers as follow_answers
from armarium_reading.providers.hub import HubAccess as HubAccess
from armarium_reading.providers.hub import hub_access as hub_access
from armarium_reading.providers.hub import hub_key as hub_key
from armarium_reading.providers.in_jobs import ask_in_job as ask_in_job
from armarium_reading.providers.in_jobs import end_for_provider as end_for_provider
from armarium_reading.providers.in_jobs import model_job as model_job
from armarium_reading.providers.in_jobs import place_with_provider as place_with_provider
from armarium_reading.providers.page_questions import artifact_work as artifact_work
from armarium_reading.providers.page_questions import ask_about as ask_about
from armarium_reading.providers.page_questions import one_of as one_of
from armarium_reading.providers.page_questions import with_prompt as with_prompt
from armarium_reading.providers.proving import exercise_provider_type as exercise_provider_type
from armarium_reading.providers.served_reader import ServedModel as ServedModel
from armarium_reading.providers.served_reader import placed_with_provider as placed_with_provider
from armarium_reading.providers.served_reader import sees_pictures as sees_pictures
from armarium_reading.providers.served_reader import served_models as served_models
from armarium_reading.providers.wire import PassageForm as PassageForm
from armarium_reading.providers.wire import Picture as Picture
from armarium_reading.providers.wire import ProviderType as ProviderType
from armarium_reading.providers.wire import Question as Question
from armarium_reading.providers.wire import Reply as Reply
from armarium_reading.providers.wire import Wire as Wire
from armarium_reading.proving import ReaderProof as ReaderProof
from armarium_reading.proving import exercise_reader as exercise_reader
from armarium_reading.queries.providers import list_models as list_models
from armarium_reading.queries.providers import list_providers as list_providers
from armarium_reading.queries.reading import cost_of_thread as cost_of_thread
from armarium_reading.queries.reading import lines_of as lines_of
from armarium_reading.queries.reading import list_episodes as list_episodes
from armarium_reading.readers import LINEREADER as LINEREADER
from armarium_reading.readers import TRANSCRIBERS as TRANSCRIBERS
from armarium_reading.readers import Choice as Choice
from armarium_reading.readers import choose as choose
from armarium_reading.readers import is_line_reader as is_line_reader
from armarium_reading.readers import load_reader as load_reader
from armarium_reading.readers import model_note as model_note
from armarium_reading.readers import models_folder as models_folder
from armarium_reading.readers import note_calibration as note_calibration
from armarium_reading.readers import runtime_folder as runtime_folder
from armarium_reading.readers import settle_choice as settle_choice
from armarium_reading.readers import worker_of as worker_of
from armarium_reading.schemas.reading import Language as Language
from armarium_worker import FoundLine as FoundLine
from armarium_worker import LinePlaces as LinePlaces
from armarium_worker import LineReading as LineReading
from armarium_worker import LineShape as LineShape
from armarium_worker import ModelFile as ModelFile
from armarium_worker import OfferedModel as OfferedModel
from armarium_worker import Page as Page
from armarium_worker import Reader as Reader
from armarium_worker import ReadLine as ReadLine
from armarium_worker import Refused as Refused
from armarium_worker import RemoteFile as RemoteFile
from armarium_worker import Runtime as Runtime
from armarium_worker import SpokenLine as SpokenLine
from armarium_worker import Transcriber as Transcriber
from armarium_worker import Transcript as Transcript

READERS, installed_readers = readers.GROUP, readers.readers
