"""Makes `handwriting.json`: `python handwriting.py CORPUS OUT`, CORPUS a folder of Parquet files of line pictures.

Needs numpy, pyarrow, Pillow and torch beside the engine's packages. The corpus has the columns image, kind (hand, typed
or print), source and document. Prints how well sources that were not trained on are told apart, then trains on all.
"""

from __future__ import annotations

import argparse
import io
import json
import random
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow.parquet as pq
import torch
from PIL import Image

from armarium_reading.handwriting import HEIGHT, line_features

HIDDEN = 16
SHARE_OF_HANDS = 0.2
"""Hands are far more than type in the corpus; so many of them are taken."""
KEEP_PRINT = 0.0
"""How much above the highest page of type the threshold lies, in the classifier's own units."""


def pictures(corpus: Path, rng: random.Random) -> list[tuple[Any, bool, str, str]]:
    """(features, by hand, source, document) of lines, each cut a little wider or narrower by chance."""
    found = []
    for path in sorted(corpus.glob("*.parquet")):
        for batch in pq.ParquetFile(path).iter_batches(columns=["image", "kind", "source", "document"]):
            for row in batch.to_pylist():
                if row["kind"] == "hand" and rng.random() > SHARE_OF_HANDS:
                    continue
                grey = Image.open(io.BytesIO(row["image"])).convert("L")
                top, bottom = (rng.uniform(-0.1, 0.12) * grey.height for _ in "ab")
                paper = int(np.percentile(np.asarray(grey), 80))
                wider = Image.new("L", (grey.width, round(grey.height - top - bottom)), paper)
                wider.paste(grey, (0, -round(top)))
                size = max(8, round(wider.width * HEIGHT / wider.height)), HEIGHT
                features = line_features(np.asarray(wider.resize(size, Image.Resampling.BILINEAR)))
                if features is not None:
                    found.append((features, row["kind"] == "hand", row["source"], row["document"]))
    return found


def fit(rows: Any, hands: Any) -> dict[str, Any]:
    """Weights of the classifier, hands and type weighing the same."""
    mean, spread = rows.mean(0), rows.std(0) + 1e-6
    x = torch.tensor((rows - mean) / spread).clamp(-5, 5)
    y = torch.tensor(hands.astype(np.float32))
    weights = torch.where(y == 1, 0.5 / y.mean(), 0.5 / (1 - y.mean()))
    torch.manual_seed(0)
    net = torch.nn.Sequential(
        torch.nn.Linear(x.shape[1], HIDDEN), torch.nn.Tanh(), torch.nn.Linear(HIDDEN, 1)
    )
    optimiser = torch.optim.AdamW(net.parameters(), lr=0.02, weight_decay=0.02)
    for _ in range(500):
        loss = torch.nn.functional.binary_cross_entropy_with_logits(net(x)[:, 0], y, weights)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    first, second = net[0], net[2]
    return {
        "mean": mean.tolist(),
        "spread": spread.tolist(),
        "first": first.weight.T.tolist(),
        "first_bias": first.bias.tolist(),
        "second": second.weight[0].tolist(),
        "second_bias": second.bias.item(),
    }


def answers(weights: dict[str, Any], rows: Any) -> Any:
    """The classifier's answers without a threshold."""
    stored = {name: np.asarray(value, dtype=np.float32) for name, value in weights.items()}
    hidden = np.tanh(
        np.clip((rows - stored["mean"]) / stored["spread"], -5, 5) @ stored["first"] + stored["first_bias"]
    )
    return hidden @ stored["second"] + stored["second_bias"]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("corpus", type=Path)
    parser.add_argument("out", type=Path)
    args = parser.parse_args()
    torch.set_num_threads(1)
    found_pictures = pictures(args.corpus, random.Random(1))
    rows = np.stack([found_picture[0] for found_picture in found_pictures])
    hands, sources, documents = (
        np.array([found_picture[n] for found_picture in found_pictures]) for n in (1, 2, 3)
    )
    held_out = np.zeros(len(rows), np.float32)
    names = np.unique(sources)
    for part in range(8):
        test = np.isin(sources, names[part::8])
        held_out[test] = answers(fit(rows[~test], hands[~test]), rows[test])
    pages = {kind: [] for kind in (True, False)}
    for document in np.unique(documents):
        for kind, of_kind in pages.items():
            lines = (documents == document) & (hands == kind)
            if lines.sum() >= 8:
                of_kind.append(float(np.median(held_out[lines])))
    threshold = max(pages[False]) + KEEP_PRINT
    print(
        f"lines: {np.mean(held_out[hands] > 0):.3f} of hands and {np.mean(held_out[~hands] < 0):.3f} of type"
    )
    print(f"documents of type: {len(pages[False])}, the highest {threshold:.2f}")
    print(
        f"documents of hands: {len(pages[True])}, {np.mean(np.array(pages[True]) > threshold):.3f} above it"
    )
    weights = {**fit(rows, hands), "threshold": threshold}
    rounded = json.loads(json.dumps(weights), parse_float=lambda number: round(float(number), 5))
    args.out.write_text(json.dumps(rounded) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
