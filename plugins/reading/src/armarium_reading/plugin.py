"""Reading as a plugin: what it contributes to the engine."""

from __future__ import annotations

from sqlalchemy import Connection

from armarium.api import Plugin, actions_in, derived_from, hookimpl, queries_in
from armarium_documents.api import start_actions
from armarium_reading import hookspecs
from armarium_reading.actions import providers
from armarium_reading.actions import reading as actions
from armarium_reading.corrections import note_consequences
from armarium_reading.ink import ink_says
from armarium_reading.jobs import ADD_MODEL, DOWNLOAD_MODEL
from armarium_reading.models import engine_metadata, metadata
from armarium_reading.providers.wire import GROUP as PROVIDERS
from armarium_reading.providers.wire import ProviderType
from armarium_reading.queries import reading
from armarium_reading.readers import GROUP as READERS
from armarium_reading.readers import TRANSCRIBERS
from armarium_reading.recipe_jobs import RECIPE_JOBS
from armarium_reading.routes.providers import router as providers_router
from armarium_reading.routes.reading import router
from armarium_worker import Reader, Transcriber


def _stats(conn: Connection) -> dict[str, int]:
    """Return the calls of models, for `GET /api/library/stats`: what was done, whether or not its page is in the Trash."""
    return {"episodes": int(conn.exec_driver_sql("SELECT count(*) FROM episode").scalar_one())}


@hookimpl
def armarium_plugin() -> Plugin:
    """Readers of lines, transcribers of speech, the jobs that use them, local and remote models, the ledger
    of calls.
    """
    return Plugin(
        name="reading",
        summary="Finding lines and reading them with drivers; providers, the model gateway and its episode ledger.",
        # The prefix reading.* is shared with the source model, so the actions used here are listed in full.
        prefixes=(
            "reading.find_lines",
            "reading.read_lines",
            "reading.read_pages",
            "model",
            "provider",
            "episode",
            "find-lines",
            "read-a-line",
            "read-a-page",
            "reading.transcribe_speech",
            "transcribe-speech",
            "download-model",
            "add-model",
        ),
        metadata=metadata,
        engine_metadata=engine_metadata,
        actions=(
            *actions_in(actions, providers),
            *start_actions("reading", [job for job in RECIPE_JOBS if "recording" in job.takes]),
        ),
        jobs=(DOWNLOAD_MODEL, ADD_MODEL),
        recipe_jobs=RECIPE_JOBS,
        queries=queries_in(reading),
        routers=(router, providers_router),
        driver_groups=(READERS, TRANSCRIBERS, PROVIDERS),
        check_driver=derived_from({PROVIDERS: ProviderType, READERS: Reader, TRANSCRIBERS: Transcriber}),
        on_step=(note_consequences,),
        stats=_stats,
        hookspecs=hookspecs,
        hooks=__name__,
    )


armarium_documents_models_asked = hookimpl(reading.models_asked)
armarium_checking_ink_says = hookimpl(optionalhook=True)(ink_says)
