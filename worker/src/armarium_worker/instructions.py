"""The instructions for models that take pictures and words, the same in a worker and at a provider."""

from __future__ import annotations


def read_line(language: str | None = None) -> str:
    """Return the instruction for reading the picture of one line, written in *language* (BCP 47) where that is known."""
    language_sentence = f" The language is {language} (BCP 47)." if language else ""
    return (
        f"The picture shows one line of a historical document.{language_sentence} Transcribe it letter by letter as it is written: keep "
        "the spelling, abbreviations, capitals and punctuation, and correct nothing. Where nothing can be read, answer "
        "nothing. Answer with the transcription alone, on one line, without quotation marks or explanations."
    )


def read_page(language: str | None = None) -> str:
    """Return the instruction for reading the picture of a whole page, written in *language* (BCP 47) where that is
    known.
    """
    language_sentence = f" The language is {language} (BCP 47)." if language else ""
    return (
        f"The picture shows one page of a historical document.{language_sentence} Transcribe it line by line, in the order in which it is "
        "read and letter by letter as it is written: each line of the page on a line of its own. Keep the spelling, "
        "abbreviations, capitals and punctuation, and correct nothing. Where nothing can be read, answer nothing. Answer with "
        "the transcription alone, without numbers, quotation marks or explanations."
    )


def bare_lines(answer: str) -> list[str]:
    """Return the lines of a page in a model's *answer*, without code fences and empty lines."""
    text = answer.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3]
    return [line for row in text.splitlines() if (line := " ".join(row.split()))]


def bare_line(answer: str) -> str:
    """Return the transcription in a model's *answer*: one line, without outer blanks and code fences."""
    text = answer.strip()
    if text.startswith("```") and text.endswith("```") and len(text) >= 6:
        text = text[3:-3].strip()
    return " ".join(text.split())
