"""Takes in a recogniser as it is published: its graph and its alphabet are checked and become one file.

Runs in a worker process: nothing of a file from elsewhere is loaded in the engine itself.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from armarium_reader_hand.atr import ALPHABET, CARD, CARD_FILE, GRAPH_FILE, LETTERS_FILE
from armarium_reader_hand.atr.card import LARGEST, Card, letters_of, read_card, summary_of
from armarium_reader_hand.atr.recogniser import Recogniser
from armarium_reader_hand.model import session_of
from armarium_reader_hand.onnx_bytes import check_graph, onnx_property
from armarium_worker import Call, Refused

WITHIN = "character"
"""The property in which RapidOCR's models carry their alphabet."""
LONGEST = 4 << 20
"""Bytes of an alphabet."""


def take_model(call: Call, largest: int) -> dict[str, Any]:
    """Params: folder with inference.onnx, dict.txt (left out where the graph carries it) and perhaps card.json.

    Result: model, the path of the file to keep, and what its card says. Refused for what does not belong together.
    """
    folder = Path(str(call.params["folder"]))
    graph, letters, about = folder / GRAPH_FILE, folder / LETTERS_FILE, folder / CARD_FILE
    check_graph(graph, largest)
    if about.is_file() and about.stat().st_size > LARGEST:
        raise Refused(f"The card is larger than {LARGEST >> 10} KiB.")
    card = read_card(about.read_bytes()) if about.is_file() else Card()
    call.check()
    data = graph.read_bytes()
    try:
        session = session_of(data)
        within = session.get_modelmeta().custom_metadata_map.get(WITHIN)
        recogniser = Recogniser(session, _alphabet(letters, within), card)
    except Refused:
        raise
    except Exception as error:
        raise Refused(
            f"The network cannot be run: {(str(error).splitlines() or [type(error).__name__])[0][:200]} Export it again."
        ) from error
    target = folder / "taken.onnx"
    alphabet = json.dumps(recogniser.alphabet, ensure_ascii=False)
    target.write_bytes(data + onnx_property(ALPHABET, alphabet) + onnx_property(CARD, card.as_json()))
    return {"model": str(target), **summary_of(card)}


def _alphabet(path: Path, within: str | None) -> list[str]:
    if not path.is_file():
        if within is None:
            raise Refused("The alphabet is missing: put it beside the model as dict.txt, one letter a line.")
        return letters_of(within)
    if path.stat().st_size > LONGEST:
        raise Refused(f"The alphabet (dict.txt) is larger than {LONGEST >> 20} MiB.")
    try:
        return letters_of(path.read_text("utf-8"))
    except UnicodeDecodeError:
        raise Refused("The alphabet (dict.txt) is not UTF-8 text. Save it as UTF-8.") from None
