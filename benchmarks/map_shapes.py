"""Row 40: the GeoJSON of a map under a thin-plate spline, against SciPy's spline, pyproj and orjson on bare rows."""

from __future__ import annotations

import os
import sqlite3

import orjson

from armarium.api import ActionContext
from benchmarks.harness import Result, compare, seconds
from benchmarks.places import OWNER, running_engine, scratch_folder

SEGMENTS = int(os.environ.get("ARMARIUM_BENCH_SEGMENTS", "2000"))
"""10,000 is the full figure."""
POINTS = 60
SIZE = (8000, 6000)


def measure(rounds: int) -> list[Result]:
    """Measure the features of one pass, from rows to bytes."""
    import numpy as np
    from pyproj import Transformer
    from scipy.interpolate import RBFInterpolator

    from armarium_georeference.queries import read_geojson
    from armarium_source_model.api import (
        NewPass,
        NewReading,
        NewSegment,
        add_readings,
        add_segments,
        create_pass,
    )

    rng = np.random.default_rng(40)
    with scratch_folder() as folder, running_engine(folder) as (engine, library):
        picture = {"checksum": library.objects.put_bytes(b"a picture"), "mime_type": "image/png", "size_bytes": 9,
                   "pixel_width": SIZE[0], "pixel_height": SIZE[1]}  # fmt: skip
        box = (engine.run(library, "document.create", {"name": "Maps"}, OWNER).result or {})["id"]
        node = {"id": "a" * 32, "parent_id": box, "doc_type": "file", "file_type": "image", "name": "Map.png"}
        sent = {"nodes": [{**node, "picture": picture}]}
        made: list[str] = []
        new = []
        for number in range(SEGMENTS):
            x, y = 0.02 + 0.0095 * (number % 100), 0.02 + 0.0095 * (number // 100 % 100)
            ring = [[x, y], [x + 0.008, y], [x + 0.008, y + 0.004], [x + 0.004, y + 0.005], [x, y + 0.004]]
            new.append(NewSegment(str(number), "line", [x, y, 0.008, 0.005], ring))

        def write(ctx: ActionContext) -> None:
            pass_id = create_pass(ctx, NewPass("a" * 32, "Places", provider="reader", model="sample"))
            ids = add_segments(ctx, pass_id, "a" * 32, None, new)
            add_readings(ctx, [NewReading(identity, "San José", producer_tool="reader") for identity in ids])
            made.append(pass_id)

        engine.run(library, "document.add_files", sent, OWNER, in_transaction=write)
        (pass_id,) = made
        places = np.column_stack([rng.uniform(0.02, 0.98, POINTS), rng.uniform(0.02, 0.98, POINTS)])
        for x, y in places.tolist():
            lon, lat = -80 + 4 * x + 0.05 * rng.normal(), -10 - 3 * y + 0.05 * rng.normal()
            point = {"pass_id": pass_id, "x": x, "y": y, "lon": lon, "lat": lat}
            engine.run(library, "georeference.point_create", point, OWNER)
        chosen = {"pass_id": pass_id, "type": "thin-plate-spline"}
        result = engine.run(library, "georeference.set_type", chosen, OWNER).result or {}
        control = [
            (control_point["x"], control_point["y"], control_point["lon"], control_point["lat"])
            for control_point in result["control_points"]
        ]
        definition = result["plane"]["definition"]
        bare = sqlite3.connect(library.path / "library.sqlite")

        def ours() -> float:
            def run() -> None:
                with library.db.read() as conn:
                    orjson.dumps(read_geojson(conn, "a" * 32))

            return seconds(run)

        def theirs() -> float:
            def run() -> None:
                there = Transformer.from_crs("OGC:CRS84", definition, always_xy=True)
                back = Transformer.from_crs(definition, "OGC:CRS84", always_xy=True)
                known = np.array(control)
                spline = RBFInterpolator(
                    known[:, :2] * SIZE, np.column_stack(there.transform(known[:, 2], known[:, 3])),
                    kernel="thin_plate_spline", degree=1,
                )  # fmt: skip
                rows = bare.execute(
                    "SELECT s.id, s.kind, s.language, s.anchor, r.content FROM segment s LEFT JOIN content_representation r "
                    "ON r.segment_id = s.id AND r.kind = 'transcription' WHERE s.pass_id = ? AND s.deleted_at IS NULL",
                    (pass_id,),
                ).fetchall()
                rings = []
                for row in rows:
                    anchor = orjson.loads(row[3])
                    x, y, w, h = anchor["rect"]
                    rings.append(anchor.get("polygon") or [[x, y], [x + w, y], [x + w, y + h], [x, y + h]])
                flat = spline(np.concatenate([np.array(ring) for ring in rings]) * SIZE)
                world = np.column_stack(back.transform(flat[:, 0], flat[:, 1])).tolist()
                features, at = [], 0
                for row, ring in zip(rows, rings, strict=True):
                    shape = world[at : at + len(ring)]
                    at += len(ring)
                    features.append(
                        {"type": "Feature", "geometry": {"type": "Polygon", "coordinates": [[*shape, shape[0]]]},
                         "properties": {"segment_id": row[0], "kind": row[1], "text": row[4], "language": row[2]}}
                    )  # fmt: skip
                orjson.dumps({"type": "FeatureCollection", "features": features})

            return seconds(run)

        try:
            return [
                compare(
                    40,
                    f"GeoJSON of a map with {SEGMENTS:,} segments under a spline of {POINTS} points",
                    engine=ours,
                    peer=theirs,
                    peer_name="bare SQL, SciPy, pyproj and orjson",
                    unit="s",
                    rounds=rounds,
                    limit=2.0,
                )
            ]
        finally:
            bare.close()
