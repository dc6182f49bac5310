"""Examples of the actions and recipe jobs of reading: parameters with which each succeeds in a new project."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, new_id
from armarium_reading.readers import TRANSCRIBERS, models_folder
from armarium_reading.sample_transcriber import SampleTranscriber
from armarium_testing.sample_pages import sample_page, sample_picture


def example(ex: Example) -> str:
    result = ex.run("provider.create", {"name": f"Server {new_id()}", "provider_type": "local-server"})
    return str(result["id"])


def page(ex: Example) -> str:
    return str(ex.run("document.create", {"name": "Letter, first page", "doc_type": "page"})["id"])


def page_with_line(ex: Example) -> str:
    return sample_page(ex, lines=1).document_id


def model_delete(ex: Example) -> dict[str, Any]:
    folder = models_folder(ex.engine, "tesseract")
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "sample.traineddata").write_bytes(b"sample")
    return {"runtime": "tesseract", "model": "sample"}


def model_add(ex: Example) -> dict[str, Any]:
    folder = ex.folder / new_id()
    folder.mkdir()
    (folder / "inference.onnx").write_bytes(b"sample")
    return {"path": str(folder)}


def recording(ex: Example) -> dict[str, Any]:
    """Create a second of silence, and name a sample transcriber that needs no model."""
    import io
    import wave

    assert ex.library is not None
    file = io.BytesIO()
    with wave.open(file, "wb") as sound:
        sound.setnchannels(1)
        sound.setsampwidth(2)
        sound.setframerate(8_000)
        sound.writeframes(bytes(16_000))
    recording = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "audio/wav",
        "size_bytes": len(file.getvalue()),
    }
    folder_id = ex.run("document.create", {"name": "Interviews", "doc_type": "folder"})["id"]
    node = {"id": new_id(), "parent_id": folder_id, "doc_type": "file", "file_type": "audio", "name": "1.wav"}
    ex.run("document.add_files", {"nodes": [{**node, "picture": recording}]})
    ex.engine.drivers.give(TRANSCRIBERS, SampleTranscriber.name, SampleTranscriber)
    return {"page_id": node["id"], "settings": {"transcriber": SampleTranscriber.name}}


def pictured_page(ex: Example) -> dict[str, Any]:
    """Create a page whose picture has two dark rows."""
    from PIL import Image

    image = Image.new("RGB", (100, 80), "white")
    for top in (20, 50):
        image.paste("black", (10, top, 90, top + 6))
    return {"page_id": sample_picture(ex, image)}


def page_with_lines(ex: Example) -> dict[str, Any]:
    page = pictured_page(ex)
    lines = [{"anchor": {"rect": [0.1, top, 0.8, 0.15]}} for top in (0.2, 0.6)]
    sample_page(ex, document_id=page["page_id"], segments=lines)
    return page


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "provider.create": lambda ex: {"name": f"Server {new_id()}", "provider_type": "local-server"},
    "provider.update": lambda ex: {"provider_id": example(ex), "enabled": False},
    "provider.delete": lambda ex: {"provider_id": example(ex)},
    "provider.set_models": lambda ex: {
        "provider_id": example(ex),
        "models": [{"name": "Small", "model_id": "small:3b", "capabilities": ["text", "vision"]}],
    },
    "provider.set_key": lambda ex: {"provider_id": example(ex), "key": "sample-key"},
    "provider.delete_key": lambda ex: {"provider_id": example(ex)},
    "reading.find_lines": lambda ex: {"scope_ids": [page(ex)]},
    "reading.read_lines": lambda ex: {"scope_ids": [page_with_line(ex)]},
    "reading.read_pages": lambda ex: {"scope_ids": [page(ex)]},
    "model.download": lambda ex: {"runtime": "tesseract", "model": "spa"},
    "model.add": model_add,
    "model.delete": model_delete,
    "find-lines": pictured_page,
    "read-a-line": page_with_lines,
    "read-a-page": pictured_page,
    "transcribe-speech": recording,
}
