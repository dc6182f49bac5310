"""How far readings are from the checked text: per page and in total, with intervals, and one candidate
against another.
"""

from __future__ import annotations

import bisect
import itertools
from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import Any

from armarium_source_model.api import CannotScore, normalise, score, word_rate

RESAMPLES = 2_000
SHARE_READ = 0.8
"""The least share of pages, or lines, a candidate must have read to count as measured."""
WORST = 20
"""How many lines are named as the worst of each candidate."""
CONFUSED = 20
"""How many kinds of misread letters are named of each candidate."""
CONFUSED_OF_PAGE = 500
"""How many are remembered of each page."""
SEED = 4


def page_scores(
    reference: Sequence[str], hypothesis: Sequence[str], policies: Sequence[str]
) -> dict[str, Any]:
    """Score one page, line by line in order: the whole text under each policy, its words, each line's share of the
    distance, and which letters were taken for which, by the policy that ranks.
    """
    from rapidfuzz.distance import Levenshtein

    reference_text, hypothesis_text = "\n".join(reference), "\n".join(hypothesis)
    scores: dict[str, Any] = {}
    lines: dict[str, list[list[int]]] = {}
    confused: list[list[Any]] = []
    for policy in policies:
        try:
            page_score = score(reference_text, hypothesis_text, policy)
        except CannotScore as refusal:
            scores[policy] = {"why": refusal.detail}
        else:
            scores[policy] = {
                "cer": round(page_score.rate, 6),
                "distance": page_score.distance,
                "reference_chars": page_score.reference_chars,
                "hypothesis_chars": page_score.hypothesis_chars,
            }
        pairs = [
            (normalise(left, policy), normalise(right, policy))
            for left, right in zip(reference, hypothesis, strict=True)
        ]
        shares = share_out(pairs, normalise(reference_text, policy), normalise(hypothesis_text, policy))
        lines[policy] = shares or [[Levenshtein.distance(left, right), len(left)] for left, right in pairs]
        if policy == main_policy(policies):
            confused = confusions(pairs)
    try:
        distance, words, _ = word_rate(reference_text, hypothesis_text, policies[0])
    except CannotScore:
        distance, words = 0, 0
    return {"scores": scores, "words": [distance, words], "lines": lines, "confusions": confused}


def share_out(pairs: Sequence[tuple[str, str]], reference: str, hypothesis: str) -> list[list[int]] | None:
    """Return each line's part of the distance between two whole texts, and of the characters of the reference: [distance,
    characters], which add up to the whole. None if *reference* is not its lines put together.

    So that an interval over lines is one of the rate of the whole text, whose alignment may cross the ends of lines.
    """
    from rapidfuzz.distance import Levenshtein

    lengths = [len(truth) + 1 for truth, _ in pairs]
    if "\n" not in reference:
        lengths = [length if length > 1 else 0 for length in lengths]
    ends = list(itertools.accumulate(lengths))
    if not reference or not ends or ends[-1] - 1 != len(reference):
        return None
    last = bisect.bisect_left(ends, ends[-1])
    lengths[last] -= 1
    shares = [[0, length] for length in lengths]
    for edit in Levenshtein.editops(reference, hypothesis):
        shares[min(bisect.bisect_right(ends, edit.src_pos), last)][0] += 1
    return shares


def confusions(pairs: Iterable[tuple[str, str]]) -> list[list[Any]]:
    """Return how often which letter was taken for which, [expected, read, times], the commonest first: nothing read for
    a letter that was left out, nothing expected for one that was added.
    """
    from rapidfuzz.distance import Levenshtein

    counted: Counter[tuple[str, str]] = Counter()
    for left, right in pairs:
        for edit in Levenshtein.editops(left, right):
            expected = "" if edit.tag == "insert" else left[edit.src_pos]
            counted[expected, "" if edit.tag == "delete" else right[edit.dest_pos]] += 1
    commonest = sorted(counted.items(), key=lambda item: (-item[1], item[0]))
    return [[*letters, times] for letters, times in commonest[:CONFUSED_OF_PAGE]]


def _most_confused(pages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the commonest confusions of all pages."""
    counted: Counter[tuple[str, str]] = Counter()
    for page in pages:
        for expected, read, times in page.get("confusions", ()):
            counted[expected, read] += times
    commonest = sorted(counted.items(), key=lambda item: (-item[1], item[0]))[:CONFUSED]
    return [{"expected": expected, "read": read, "times": times} for (expected, read), times in commonest]


def totals(pages: Sequence[Mapping[str, Any]], policies: Sequence[str]) -> dict[str, Any]:
    """Return total distance over total characters under each policy, with its 95 % confidence interval."""
    import numpy as np

    by_policy: dict[str, Any] = {}
    for policy in policies:
        rated = [page["scores"][policy] for page in pages if "cer" in page["scores"][policy]]
        chars = sum(page_score["reference_chars"] for page_score in rated)
        if not chars:
            continue
        distance = sum(page_score["distance"] for page_score in rated)
        lines = np.array(
            [line for page in pages if "cer" in page["scores"][policy] for line in page["lines"][policy]],
            dtype=np.float64,
        )
        by_policy[policy] = {
            "cer": round(distance / chars, 6),
            "distance": distance,
            "reference_chars": chars,
            "pages": len(rated),
            "interval": interval(lines),
        }
    return by_policy


def interval(lines: Any) -> list[float] | None:
    """Return the middle 95 % of the rate over resampled lines ((lines, 2): distance, characters); None for
    fewer than two lines.
    """
    import numpy as np

    if len(lines) < 2:
        return None
    chance = np.random.default_rng(SEED)
    rates = []
    for _ in range(RESAMPLES):
        distance, chars = lines[chance.integers(len(lines), size=len(lines))].sum(axis=0)
        if chars:
            rates.append(distance / chars)
    low, high = np.percentile(rates, (2.5, 97.5)) if rates else (0.0, 0.0)
    return [round(float(low), 6), round(float(high), 6)]


def paired_p_value(first_lines: Any, second_lines: Any) -> float | None:
    """Return how often chance alone, line by line, makes as large a difference between two candidates; None
    if the lines differ.
    """
    import numpy as np

    if len(first_lines) != len(second_lines) or not len(first_lines):
        return None
    first, second = np.asarray(first_lines, dtype=np.float64), np.asarray(second_lines, dtype=np.float64)
    differences = first[:, 0] - second[:, 0]
    observed = abs(differences.sum())
    chance = np.random.default_rng(SEED)
    as_large = 0
    for _ in range(RESAMPLES):
        signs = chance.integers(0, 2, len(differences)) * 2 - 1
        as_large += int(abs((differences * signs).sum()) >= observed - 1e-9)
    return round(float((as_large + 1) / (RESAMPLES + 1)), 5)


def paired_bootstrap(first_lines: Any, second_lines: Any) -> dict[str, Any] | None:
    """Return how far the rate of *second_lines* is above that of *first_lines* on the same lines ((lines, 2): distance,
    characters).

    Lines are drawn with replacement, the same for both candidates: {difference, interval: its middle 95 %, p:
    twice the share of draws whose difference is zero or has the other sign}. None for fewer than two lines,
    or different ones.
    """
    import numpy as np

    first, second = np.asarray(first_lines, dtype=np.float64), np.asarray(second_lines, dtype=np.float64)
    if len(first) != len(second) or len(first) < 2 or not first[:, 1].sum():
        return None
    chance = np.random.default_rng(SEED)
    samples = []
    for _ in range(RESAMPLES):
        lines = chance.integers(len(first), size=len(first))
        chars = first[lines, 1].sum()
        if chars:
            samples.append((second[lines, 0].sum() - first[lines, 0].sum()) / chars)
    differences = np.array(samples)
    low, high = np.percentile(differences, (2.5, 97.5))
    beyond = min(int((differences <= 0).sum()), int((differences >= 0).sum()))
    return {
        "difference": round(float((second[:, 0].sum() - first[:, 0].sum()) / first[:, 1].sum()), 6),
        "interval": [round(float(low), 6), round(float(high), 6)],
        "p": round(min(1.0, 2 * (beyond + 1) / (len(differences) + 1)), 5),
    }


def main_policy(policies: Sequence[str]) -> str:
    """Return the policy by which candidates are ranked: as written, if that is among *policies*."""
    return "diplomatic" if "diplomatic" in policies else policies[0]


def worst(pages: Mapping[str, Mapping[str, Any]], policy: str) -> list[dict[str, Any]]:
    """Return the lines that were read worst: where they are and how many characters are wrong, never the words."""
    wrong_lines = [
        {"document_id": page, "segment_id": segment_id, "distance": distance, "reference_chars": chars}
        for page, measure in pages.items()
        for segment_id, (distance, chars) in zip(
            measure.get("segment_ids", ()), measure["lines"][policy], strict=False
        )
        if distance
    ]
    return sorted(
        wrong_lines,
        key=lambda line: (-line["distance"] / max(1, line["reference_chars"]), line["segment_id"]),
    )[:WORST]


def rated_in_common(items: Collection[str], reads: Sequence[Collection[str]]) -> tuple[list[bool], set[str]]:
    """Return which candidates read enough of *items* (pages, or lines) to count as measured, and the items that all of
    these read: all are rated on the same ones, so that one which a measured candidate could not read counts for none.
    """
    enough = [bool(read) and len(read) >= SHARE_READ * len(items) for read in reads]
    return enough, set(items).intersection(
        *(read for read, is_enough in zip(reads, enough, strict=True) if is_enough)
    )


def result_of(
    candidates: Sequence[Mapping[str, Any]],
    pages: Sequence[Mapping[str, Any]],
    read: Sequence[Mapping[str, Any]],
    policies: Sequence[str],
) -> dict[str, Any]:
    """Return the whole result; *read* has, for each candidate, its pages' scores by document id, or {error}
    for a page not read.
    """
    import numpy as np

    main = main_policy(policies)
    reads = [{page for page, measure in by_page.items() if "scores" in measure} for by_page in read]
    enough, common = rated_in_common([page["document_id"] for page in pages], reads)
    models = []
    for candidate, by_page, is_enough in zip(candidates, read, enough, strict=True):
        good = {page: measure for page, measure in by_page.items() if "scores" in measure}
        rated_pages = [measure for page, measure in good.items() if page in common]
        measured = is_enough and bool(common)
        words = np.array([rated_page["words"] for rated_page in rated_pages] or [[0, 0]]).sum(axis=0)
        seconds = sum(measure["seconds"] for measure in good.values())
        worked = [measure.get("cpu_seconds") for measure in good.values()]
        failed = next((measure["error"] for measure in by_page.values() if "error" in measure), None)
        models.append(
            {
                "model": candidate["model"],
                "reader": candidate["reader"],
                "measured": measured,
                "why": None
                if measured
                else f"It read {len(good)} of {len(pages)} pages"
                + (
                    ", and none of those that all others read." if is_enough else f". {failed or ''}".rstrip()
                ),
                "totals": totals(rated_pages, policies) if measured else {},
                "wer": round(float(words[0] / words[1]), 6) if measured and words[1] else None,
                "worst": worst(good, main),
                "confusions": _most_confused(rated_pages) if measured else [],
                "speed": {
                    "seconds": round(seconds, 3),
                    "pages": len(good),
                    "pages_per_hour": round(3600 * len(good) / seconds, 1) if seconds else None,
                    "cpu_seconds_per_page": round(sum(worked) / len(good), 4)
                    if good and None not in worked
                    else None,
                    "basis": "the reader's own time on this machine, without loading",
                },
                "pages": [
                    {
                        "document_id": page["document_id"],
                        "checked_by": good.get(page["document_id"], {}).get("checked_by"),
                        "scores": good.get(page["document_id"], {}).get("scores")
                        or {
                            policy: {
                                "why": by_page.get(page["document_id"], {}).get("error", "It was not read.")
                            }
                            for policy in policies
                        },
                    }
                    for page in pages
                ],
            }
        )
    rated = [number for number, model in enumerate(models) if model["measured"] and main in model["totals"]]
    rated.sort(key=lambda number: models[number]["totals"][main]["cer"])
    comparisons = []
    for number in rated[1:]:
        both = [
            page["document_id"]
            for page in pages
            if all("scores" in read[at].get(page["document_id"], {}) for at in (rated[0], number))
        ]
        first, second = (
            [line for page in both for line in read[at][page]["lines"][main]] for at in (rated[0], number)
        )
        comparisons.append(
            {
                "better": models[rated[0]]["model"],
                "worse": models[number]["model"],
                "policy": main,
                "difference": round(
                    models[number]["totals"][main]["cer"] - models[rated[0]]["totals"][main]["cer"], 6
                ),
                "p": paired_p_value(first, second),
            }
        )
    best = models[rated[0]]["model"] if len(rated) >= 2 else None
    return {"models": models, "best": best, "comparisons": comparisons}


def uncounted_pages(result: Mapping[str, Any], policy: str) -> dict[str, str]:
    """Return the pages of a result that count for no candidate since one that was measured could not read them: page to why."""
    uncounted: dict[str, str] = {}
    for model in result["models"]:
        for page in model["pages"] if model["measured"] else ():
            score = page["scores"][policy]
            if "cer" not in score:
                why = f"{model['model']} could not be measured on it, so it counts for none: {score['why']}"
                uncounted[page["document_id"]] = why
    return uncounted
