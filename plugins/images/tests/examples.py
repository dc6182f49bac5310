"""Examples of the actions and recipe jobs of images: parameters with which each succeeds in a new project."""

from __future__ import annotations

import io
from collections.abc import Callable, Mapping
from typing import Any

from armarium.api import Example, new_id


def sample_folder(ex: Example, pictures: int = 1) -> tuple[str, list[str]]:
    """Create a folder with *pictures* pictures of 60 by 40 pixels; return its id and theirs."""
    from PIL import Image

    image = Image.new("L", (60, 40), 200)
    image.paste(30, (0, 0, 30, 40))
    file = io.BytesIO()
    image.save(file, "PNG")
    assert ex.library is not None
    picture = {
        "checksum": ex.library.objects.put_bytes(file.getvalue()),
        "mime_type": "image/png",
        "size_bytes": file.tell(),
        "pixel_width": 60,
        "pixel_height": 40,
    }
    folder = str(ex.run("document.create", {"name": "Openings"})["id"])
    nodes = [
        {
            "id": new_id(),
            "parent_id": folder,
            "doc_type": "file",
            "file_type": "image",
            "name": f"{number}.png",
            "picture": picture,
        }
        for number in range(1, pictures + 1)
    ]
    ids = ex.run("document.add_files", {"nodes": nodes})["ids"]
    return folder, ids


def image_batch_apply(ex: Example) -> dict[str, Any]:
    folder, _ = sample_folder(ex, 2)
    return {
        "folder_id": folder,
        "spec": {"kind": "split", "regions": [{"bbox": [0, 0, 0.5, 1]}, {"bbox": [0.5, 0, 0.5, 1]}]},
    }


def image_batch_item(ex: Example) -> dict[str, Any]:
    batch = ex.run("image.batch_apply", image_batch_apply(ex))
    return {"batch_id": batch["batch_id"], "document_id": batch["items"][0]["document_id"]}


def image_batch_undo(ex: Example) -> dict[str, Any]:
    params = image_batch_item(ex)
    ex.run("image.batch_item", params)
    return {"batch_id": params["batch_id"]}


CROP = {"left": 6, "top": 4, "width": 30, "height": 20}


HALVES = [{"bbox": [0, 0, 0.5, 1], "label": "1v"}, {"bbox": [0.5, 0, 0.5, 1], "label": "2r"}]


def image_crop(ex: Example) -> dict[str, Any]:
    _, (picture,) = sample_folder(ex)
    return {"document_id": picture, **CROP}


def image_uncrop(ex: Example) -> dict[str, Any]:
    result = ex.run("image.crop", image_crop(ex))
    return {"document_id": result["document_id"]}


def image_split(ex: Example) -> dict[str, Any]:
    _, (picture,) = sample_folder(ex)
    return {"document_id": picture, "regions": HALVES}


def image_unsplit(ex: Example) -> dict[str, Any]:
    result = ex.run("image.split", image_split(ex))
    return {"document_id": result["document_id"]}


def image_crop_batch(ex: Example) -> dict[str, Any]:
    _, pictures = sample_folder(ex, 2)
    return {"document_ids": pictures, "region": {"left": 0.5, "top": 0, "width": 0.5, "height": 1}}


def image_treat(ex: Example) -> dict[str, Any]:
    folder, _ = sample_folder(ex)
    return {"scope_ids": [folder], "role": "enhanced"}


def image_treat_item(ex: Example) -> dict[str, Any]:
    _, (picture,) = sample_folder(ex)
    return {"document_id": picture, "role": "background-removed"}


EXAMPLES: Mapping[str, Callable[[Example], Mapping[str, Any]]] = {
    "image.batch_apply": image_batch_apply,
    "image.batch_item": image_batch_item,
    "image.batch_undo": image_batch_undo,
    "image.crop": image_crop,
    "image.uncrop": image_uncrop,
    "image.split": image_split,
    "image.unsplit": image_unsplit,
    "image.crop_batch": image_crop_batch,
    "image.treat": image_treat,
    "image.treat_item": image_treat_item,
}
