"""The rules by cases worked out by hand: log-odds are sums of the table's weights, probabilities from a table of e."""

from __future__ import annotations

import pytest

from armarium_finding.api import BUILTIN, Cue, CueTable, Party
from armarium_finding.cues import join_tables
from armarium_finding.evidence import PageEvidence, look_at
from armarium_finding.proposing import describe_groups, groups_of, propose
from armarium_finding.rules import join_leaves, pair_into_leaves

FILLER = "Se continúa con la relación de los bienes que constan en el inventario."
PLAIN = "En la casa hay dos mesas y una silla.\nTambién un armario viejo."

# 1 / (1 + e^-x), from a printed table of the logistic function.
LOGISTIC = {
    -9.0: 0.000123, -6.0: 0.002473, -5.0: 0.006693, -3.0: 0.047426, -2.0: 0.119203, -1.0: 0.268941,
    -0.5: 0.377541, 0.0: 0.5, 0.5: 0.622459, 1.0: 0.731059, 1.5: 0.817574, 2.0: 0.880797, 2.5: 0.924142,
    3.0: 0.952574, 4.0: 0.982014, 5.0: 0.993307, 6.0: 0.997527,
}  # fmt: skip


def pages(*texts: str | None, table: CueTable = BUILTIN) -> list[PageEvidence]:
    return [
        look_at(f"p{number}", text or "", is_read=text is not None, table=table)
        for number, text in enumerate(texts, start=1)
    ]


def second_join(before: str, here: str, table: CueTable = BUILTIN) -> dict[str, object]:
    leaves, _ = pair_into_leaves(pages(before, here, table=table))
    return join_leaves(leaves)[1]


def weights(join: dict[str, object]) -> list[tuple[str, str, float]]:
    return sorted((signal["role"], signal["cue"], signal["weight"]) for signal in join["signals"])  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("head", "cue", "weight", "kind"),
    [
        ("JUZGADO DE PRIMERA INSTANCIA NÚMERO DOS", "court caption", 3.0, None),
        ("Audiencia Provincial de Cádiz", "court caption", 3.0, None),
        ("IN THE SUPREME COURT OF OHIO", "court caption", 3.0, None),
        ("SENTENCIA", "judgment heading", 3.0, "Sentencia"),
        ("EN NOMBRE DEL REY", "judgment heading", 3.0, "Sentencia"),
        ("FINAL JUDGMENT", "judgment heading", 3.0, "Judgment"),
        ("Interpone demanda laboral.", "complaint", 2.5, "Demanda"),
        ("PODER GENERAL PARA PLEITOS", "power of attorney", 2.5, "Poder"),
        ("Acta de audiencia", "hearing record", 2.5, "Acta de audiencia"),
        ("TELEGRAMA", "telegram or cable", 2.5, "Cable"),
        ("WESTERN UNION", "telegram or cable", 2.5, "Cable"),
        ("Muy señor mío:", "letter salutation", 2.0, "Carta"),
        ("Querida hermana:", "letter salutation", 2.0, "Carta"),
        ("Dear Sir,", "letter salutation", 2.0, "Letter"),
        ("My dear Anna,", "letter salutation", 2.0, "Letter"),
        ("RECIBO", "receipt", 2.0, "Recibo"),
        ("Received of Mr. Jones the sum of ten dollars.", "receipt", 2.0, "Receipt"),
        ("Madrid, 3 de mayo de 1950.", "place-and-date line", 1.0, None),
        ("Boston, May 3rd, 1850.", "place-and-date line", 1.0, None),
        ("Leeds, 3 May 1850.", "place-and-date line", 1.0, None),
    ],
)
def test_each_opening_weighs_what_the_table_says(
    head: str, cue: str, weight: float, kind: str | None
) -> None:
    join = second_join(FILLER, f"{head}\n{FILLER}\nY no hay más.")
    assert weights(join) == [("opening", cue, weight)]
    assert join["probability"] == pytest.approx(LOGISTIC[weight - 2.0], abs=1e-6)
    proposal = propose(pages(FILLER, f"{head}\n{FILLER}\nY no hay más."))
    assert len(proposal["documents"]) == (2 if weight >= 2.0 else 1)
    assert proposal["documents"][-1]["kind"] == kind


@pytest.mark.parametrize(
    ("foot", "cue", "weight"),
    [
        ("Notifíquese a las partes.", "order-to-notify formula", 2.5),
        ("Atentamente,", "letter close", 2.0),
        ("Su seguro servidor.", "letter close", 2.0),
        ("Yours very truly,", "letter close", 2.0),
        ("Your obedient servant.", "letter close", 2.0),
        ("Fdo. Juan Pérez.", "typed signature", 1.5),
        ("/s/ John Smith.", "typed signature", 1.5),
    ],
)
def test_each_closing_weighs_what_the_table_says(foot: str, cue: str, weight: float) -> None:
    join = second_join(f"{FILLER}\n{foot}", PLAIN)
    assert weights(join) == [("closing", cue, weight)]
    assert join["probability"] == pytest.approx(LOGISTIC[weight - 2.0], abs=1e-6)


def test_openings_count_five_together_and_closings_three() -> None:
    before = f"{FILLER}\nAtentamente,\nNotifíquese.\nFdo. Juan."
    here = f"JUZGADO DE PAZ\nSENTENCIA\nMadrid, 3 de mayo de 1950.\n{FILLER}"
    join = second_join(before, here)
    assert sum(weight for role, _, weight in weights(join) if role == "opening") == 7.0
    assert sum(weight for role, _, weight in weights(join) if role == "closing") == 6.0
    assert join["probability"] == pytest.approx(LOGISTIC[6.0], abs=1e-6)  # -2 + 5 + 3


def test_a_boundary_is_proposed_from_one_half_on() -> None:
    assert len(propose(pages(FILLER, f"Dear Sir,\n{PLAIN}"))["documents"]) == 2  # -2 + 2 = 0: one half
    assert len(propose(pages(f"{FILLER}\nFdo. Juan.", PLAIN))["documents"]) == 1  # -2 + 1.5


@pytest.mark.parametrize(
    ("before", "here", "cue", "weight"),
    [
        ("- 3 -", "- 4 -", "page numbers run on", -3.0),
        ("Página 3", "Página 4 de 9", "page numbers run on", -3.0),
        ("fol. 7 r", "fol. 7 v", "page numbers run on", -3.0),
        ("f. 7v", "f. 8r", "page numbers run on", -3.0),
        ("12", "1", "page numbers restart", 4.0),
        ("12", "2", "page numbers restart", 4.0),
        ("1", "1", "page numbers restart", 4.0),
        ("3", "6", None, 0.0),
        ("7", "7", None, 0.0),
    ],
)
def test_page_numbers(before: str, here: str, cue: str | None, weight: float) -> None:
    join = second_join(f"{before}\n{FILLER}", f"{here}\n{PLAIN}")
    assert weights(join) == ([("furniture", cue, weight)] if cue else [])
    # Numbers with a gap between them say nothing, and nothing else does here.
    assert join["probability"] == (pytest.approx(LOGISTIC[weight - 2.0], abs=1e-6) if cue else None)


def test_a_page_number_may_stand_at_the_foot_or_apart_as_furniture() -> None:
    first = look_at("a", FILLER, is_read=True, table=BUILTIN, furniture=f"Juzgado\n{FILLER}\n4")
    second = look_at("b", PLAIN, is_read=True, table=BUILTIN, furniture=f"Juzgado\n{PLAIN}\n5")
    assert (first.number, second.number) == ((4, ""), (5, ""))
    assert first.openings == []


def test_a_sentence_that_runs_over_and_a_word_that_is_split() -> None:
    over = second_join("Los bienes que dejó a su", "hermano Juan son estos.")
    assert weights(over) == [("continuity", "sentence runs over", -3.0)]
    assert over["probability"] == pytest.approx(LOGISTIC[-5.0], abs=1e-6)
    split = second_join("Los bienes que dejó a su her-\n12", "mano Juan son estos.")
    assert weights(split) == [("continuity", "hyphenated word split", -4.0)]
    assert split["probability"] == pytest.approx(LOGISTIC[-6.0], abs=1e-6)
    assert weights(second_join("Se acabó la lista.", "hermano Juan son estos.")) == []
    assert weights(second_join("Los bienes que dejó a su", "Hermano Juan son estos.")) == []


def test_signals_add_up() -> None:
    join = second_join(f"3\n{FILLER}\nYours truly,", "4\nmy dear Anna, this goes on.\nAnd on.")
    # -2, opening 2, closing 2, numbers -3, a sentence that runs over -3
    assert sum(weight for *_, weight in weights(join)) == -2.0
    assert join["probability"] == pytest.approx(0.017986, abs=1e-6)


def test_only_five_lines_of_the_head_and_six_of_the_foot_are_tried() -> None:
    deep = "\n".join([PLAIN, PLAIN, "Otra línea más.", "SENTENCIA", PLAIN])
    assert weights(second_join(FILLER, deep)) == []
    fifth = "\n".join([PLAIN, PLAIN, "SENTENCIA", PLAIN])
    assert weights(second_join(FILLER, fifth)) == [("opening", "judgment heading", 3.0)]
    foot = "\n".join(["Atentamente,", *["Una línea del inventario."] * 6])
    assert weights(second_join(foot, PLAIN)) == []
    assert weights(second_join("\n".join(foot.splitlines()[:6]), PLAIN)) == [("closing", "letter close", 2.0)]


def test_a_ruling_says_the_kind_and_weighs_nothing() -> None:
    proposal = propose(pages(FILLER, f"{PLAIN}\nFALLO: que debo condenar."))
    assert proposal["documents"][0]["kind"] == "Sentencia"
    assert [(signal["role"], signal["weight"]) for signal in proposal["joins"][1]["signals"]] == [
        ("kind", 0.0)
    ]


def test_leaves_versos_second_shots_blank_and_unread_pages() -> None:
    long = "Querido hermano:\nTe escribo para decirte que llegamos bien al puerto y que el viaje fue corto."
    second_text = long.replace("corto", "cortq")
    proposal = propose(
        pages(
            "",
            long,
            "x 2",
            "",
            second_text,
            None,
            long + " Y que nos recibieron todos.",
            "12345678901",
            "123456789012",
        )
    )
    kinds = [(finding["kind"], finding["page_id"], finding["of_page_id"]) for finding in proposal["findings"]]
    assert kinds == [
        ("blank-page", "p1", None),
        ("blank-verso", "p3", "p2"),
        ("blank-page", "p4", None),
        ("no-reading", "p6", None),
        ("blank-verso", "p8", "p7"),
    ]
    assert proposal["leaves"] == 7
    shot = propose(pages(long, second_text, "", PLAIN))
    assert [(finding["kind"], finding["page_id"]) for finding in shot["findings"]] == [
        ("duplicate-shot", "p2"),
        ("blank-verso", "p3"),
    ]
    assert shot["findings"][0]["similarity"] >= 0.9
    assert shot["leaves"] == 2
    assert [join["page_id"] for join in shot["joins"]] == ["p1", "p4"]
    assert shot["joins"][1]["previous_page_id"] == "p3"


def test_confidence_is_the_least_of_start_end_and_inner_joins() -> None:
    proposal = propose(pages(FILLER, PLAIN, f"SENTENCIA\n{FILLER}", f"Dear Sir,\n{PLAIN}"))
    confidence = [document["confidence"] for document in proposal["documents"]]
    # Inner join of the first: 1 - 0.119203; its end and the start of the next: 0.731059; the last begins at 0.5.
    assert confidence == pytest.approx([0.731059, 0.5, 0.5], abs=1e-6)
    assert [document["page_ids"] for document in proposal["documents"]] == [["p1", "p2"], ["p3"], ["p4"]]
    assert [
        (document["first_position"], document["last_position"]) for document in proposal["documents"]
    ] == [
        (0, 1),
        (2, 2),
        (3, 3),
    ]


def test_where_no_cue_of_any_language_matched_nothing_is_said_about_how_sure_it_is() -> None:
    """As of French wills with Spanish and English rows only: silence is no evidence that a page goes on."""
    french = [
        "Je soussigné déclare ceci.",
        "Fait à Pau le deux mai.",
        "Ceci est mon testament.\n1",
        "Et je lègue tout.\n1",
    ]
    proposal = propose(pages(*french))
    assert proposal["doubt"] is not None
    assert all(document["confidence"] is None for document in proposal["documents"])
    assert all(
        "No cue of any language matched" in document["reasons"][0] for document in proposal["documents"]
    )
    # Page numbers that begin again say something, and still propose.
    assert [document["page_ids"] for document in proposal["documents"]] == [["p1", "p2", "p3"], ["p4"]]
    assert [join["probability"] for join in proposal["joins"]] == [
        1.0,
        None,
        None,
        pytest.approx(LOGISTIC[2.0]),
    ]
    cued = propose(pages(*french, "Dear Sir,\nAll is well."))
    assert cued["doubt"] is None
    assert cued["joins"][1]["probability"] == pytest.approx(LOGISTIC[-2.0])


def test_nothing_is_said_about_how_sure_a_document_with_or_beside_unread_pages_is() -> None:
    proposal = propose(
        pages("Dear Sir,\nAll is well.", None, "And so it went.", f"SENTENCIA\n{FILLER}", PLAIN)
    )
    assert [document["page_ids"] for document in proposal["documents"]] == [["p1", "p2", "p3"], ["p4", "p5"]]
    assert [join["probability"] is None for join in proposal["joins"]] == [False, True, True, False, False]
    first, second = proposal["documents"]
    assert (first["confidence"], first["reasons"][0]) == (
        None,
        "1 of its pages has not been read, so nothing is said about how sure this is.",
    )
    assert second["confidence"] == pytest.approx(LOGISTIC[1.0])


FORM = "Madrid, {} de mayo de 1950.\nMuy señor mío: he recibido de Don {} la suma de {} pesetas por el alquiler de la casa."


@pytest.mark.parametrize(
    ("other", "pages_of_first"),
    [
        (("3", "Juan Pérez", "100"), 2),
        (("3", "Juan Péres", "100"), 2),  # a name read in two ways
        (("4", "Juan Pérez", "100"), 1),
        (("3", "Juan Pérez", "200"), 1),
        (("3", "Luis Gómez", "100"), 1),
    ],
)
def test_letters_that_differ_in_a_name_or_number_are_no_second_shots(
    other: tuple[str, str, str], pages_of_first: int
) -> None:
    proposal = propose(pages(FORM.format("3", "Juan Pérez", "100"), FORM.format(*other)))
    assert proposal["leaves"] == 3 - pages_of_first
    assert len(proposal["documents"][0]["page_ids"]) == pages_of_first


def test_a_second_shot_that_differs_in_a_word_is_less_certain_than_one_that_does_not() -> None:
    letter = FORM.format("3", "Juan Pérez", "100")
    for again, confidence in ((letter, 1.0), (letter.replace("alquiler", "alquilcr"), 0.9)):
        (document,) = propose(pages(letter, again))["documents"]
        assert (len(document["page_ids"]), document["confidence"]) == (2, confidence)


def test_dates_and_parties_and_the_groups_of_documents_that_share_two() -> None:
    first = f"JUZGADO DE TOLEDO\nToledo, 5 de junio de 1931.\nDon Juan Pérez Gil contra Compañía del Norte.\n{FILLER}"
    second = f"SENTENCIA\nToledo, 2 de mayo de 1930.\nDemandante: Juan Perez Gil\nDemandada: Compañía del Norte\n{FILLER}"
    third = f"Dear Sir,\nMr. John Smith\nSmith v. Jones\n{FILLER}"
    proposal = propose(pages(first, second, third))
    assert [document["date"] for document in proposal["documents"]] == ["1931-06-05", "1930-05-02", None]
    assert proposal["documents"][0]["parties"] == ["Juan Pérez Gil", "Compañía del Norte"]
    assert proposal["documents"][1]["parties"] == ["Juan Perez Gil", "Compañía del Norte"]
    assert proposal["documents"][2]["parties"] == ["John Smith", "Smith", "Jones"]
    assert [group["document_indexes"] for group in proposal["groups"]] == [[1, 0]]


def group_of(*parties: tuple[str, ...]) -> list[tuple[list[int], list[str], list[str]]]:
    """What documents with these parties are grouped into: (documents, parties, reasons)."""
    documents = [
        {"index": number, "parties": list(names), "state": "proposed", "date": None}
        for number, names in enumerate(parties)
    ]
    groups = groups_of(documents)
    describe_groups(groups, dict(enumerate(documents)))
    return [(group["document_indexes"], group["parties"], group["reasons"]) for group in groups]


def test_all_documents_of_a_group_share_two_parties() -> None:
    assert group_of(("Ann", "Bo"), ("bo", "ANN", "Cy", "Di"), ("Cy", "Di")) == [
        ([0, 1], ["Ann", "Bo"], ["2 documents name Ann and Bo."])
    ]
    # The pair that most documents share comes first; what is left may make a group of its own.
    chain = group_of(("Ann", "Bo"), ("Ann", "Bo", "Cy"), ("Bo", "Cy"), ("Bo", "Cy"), ("Ann", "Di"))
    assert chain == [([1, 2, 3], ["Bo", "Cy"], ["3 documents name Bo and Cy."])]
    assert group_of(("Ann", "Bo"), ("Cy", "Di"), ("Di", "Cy"), ("Bo", "Ann")) == [
        ([0, 3], ["Ann", "Bo"], ["2 documents name Ann and Bo."]),
        ([1, 2], ["Cy", "Di"], ["2 documents name Cy and Di."]),
    ]
    assert group_of(("Ann",), ("Ann",), ()) == []


def test_very_many_parties_take_no_time() -> None:
    crowd = tuple(f"Party {number}" for number in range(20_000))
    ((documents, parties, _),) = group_of(crowd, crowd, ("Ann", "Bo"))
    assert documents == [0, 1]
    assert len(parties) == 20_000


def test_folders_of_one_page_of_blank_pages_and_of_very_many_unread_ones() -> None:
    (document,) = propose(pages(PLAIN))["documents"]
    assert (document["page_ids"], document["confidence"]) == (["p1"], None)
    blank = propose(pages("", " ", "x"))
    assert [finding["kind"] for finding in blank["findings"]] == ["blank-page"] * 3
    assert blank["leaves"] == 3
    (whole,) = blank["documents"]
    assert whole["page_ids"] == ["p1", "p2", "p3"]
    unread = propose(pages(*[None] * 5_000))
    assert [finding["kind"] for finding in unread["findings"]] == ["no-reading"] * 5_000
    assert len(unread["documents"][0]["page_ids"]) == 5_000
    assert unread["documents"][0]["confidence"] is None
    assert unread["groups"] == []


def test_a_language_is_rows_that_anybody_adds() -> None:
    french = CueTable(
        cues=(
            Cue("letter salutation", "opening", "fr", r"^(?:mon )?cher (?:ami|monsieur)\b", 2.0, "Lettre"),
        ),
        parties=(Party("addressee", "fr", r"^A Monsieur (\w+)"),),
    )
    assert weights(second_join(FILLER, f"Cher Monsieur,\n{PLAIN}")) == []
    table = join_tables([BUILTIN, french])
    assert weights(second_join(FILLER, f"Chér Monsieur,\n{PLAIN}", table)) == [
        ("opening", "letter salutation", 2.0)
    ]
    assert (
        propose(pages(f"A Monsieur Durand\nCher ami,\n{PLAIN}", table=table))["documents"][0]["kind"]
        == "Lettre"
    )


def test_hostile_text_takes_no_time_and_no_page_gives_no_document() -> None:
    assert propose([])["documents"] == []
    long = pages("A" * 200_000 + "\n" + "De " * 100_000 + " contra " + "B " * 50_000, "\x00\u202e" * 5_000)
    assert len(propose(long)["documents"]) >= 1
