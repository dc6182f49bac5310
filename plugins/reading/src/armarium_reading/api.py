"""What other families and the authors of readers and provider types may import: the one way to ask a model
(`ask`), the two contracts with their test suites, and the ledger.

The contract itself lives in `armarium_worker`, which a reader's own runtime has too; a driver that runs in a
runtime imports it from there.
"""

from __future__ import annotations

from armarium_reading.caller import Caller, Subject
from armarium_reading.corrections import Standing, standing_of
from armarium_reading.hookspecs import OwnReader
from armarium_reading.line_pictures import cut_line
from armarium_reading.local_models import going_download
from armarium_reading.models import episodes
from armarium_reading.overrides import READING_PORTS, provider_settings, takes_provider
from armarium_reading.prompts import own_prompt
from armarium_reading.providers.asking import ModelAnswer, ModelRequest, ask, ask_for_vectors
from armarium_reading.providers.following import MODEL_DELTA, follow_answers
from armarium_reading.providers.hub import HubAccess, hub_access, hub_key
from armarium_reading.providers.in_jobs import ask_in_job, place_with_provider, put_off_while_busy
from armarium_reading.providers.proving import exercise_provider_type
from armarium_reading.providers.served_reader import (
    ServedModel,
    placed_with_provider,
    sees_pictures,
    served_models,
)
from armarium_reading.providers.wire import PassageForm, Picture, ProviderType, Question, Reply, Wire
from armarium_reading.proving import ReaderProof, exercise_reader
from armarium_reading.queries.providers import list_models, list_providers
from armarium_reading.queries.reading import cost_of_thread, lines_of, list_episodes
from armarium_reading.readers import GROUP as READERS
from armarium_reading.readers import (
    LINEREADER,
    TRANSCRIBERS,
    Choice,
    choose,
    is_line_reader,
    load_reader,
    model_note,
    models_folder,
    note_calibration,
    runtime_folder,
    settle_choice,
)
from armarium_reading.readers import readers as installed_readers
from armarium_worker import (
    FoundLine,
    LineReading,
    LineShape,
    ModelFile,
    OfferedModel,
    Page,
    Reader,
    ReadLine,
    Refused,
    RemoteFile,
    Runtime,
    SpokenLine,
    Transcriber,
    Transcript,
)

__all__ = [
    "LINEREADER",
    "MODEL_DELTA",
    "READERS",
    "READING_PORTS",
    "TRANSCRIBERS",
    "Caller",
    "Choice",
    "FoundLine",
    "HubAccess",
    "LineReading",
    "LineShape",
    "ModelAnswer",
    "ModelFile",
    "ModelRequest",
    "OfferedModel",
    "OwnReader",
    "Page",
    "PassageForm",
    "Picture",
    "ProviderType",
    "Question",
    "ReadLine",
    "Reader",
    "ReaderProof",
    "Refused",
    "RemoteFile",
    "Reply",
    "Runtime",
    "ServedModel",
    "SpokenLine",
    "Standing",
    "Subject",
    "Transcriber",
    "Transcript",
    "Wire",
    "ask",
    "ask_for_vectors",
    "ask_in_job",
    "choose",
    "cost_of_thread",
    "cut_line",
    "episodes",
    "exercise_provider_type",
    "exercise_reader",
    "follow_answers",
    "going_download",
    "hub_access",
    "hub_key",
    "installed_readers",
    "is_line_reader",
    "lines_of",
    "list_episodes",
    "list_models",
    "list_providers",
    "load_reader",
    "model_note",
    "models_folder",
    "note_calibration",
    "own_prompt",
    "place_with_provider",
    "placed_with_provider",
    "provider_settings",
    "put_off_while_busy",
    "runtime_folder",
    "sees_pictures",
    "served_models",
    "settle_choice",
    "standing_of",
    "takes_provider",
]
