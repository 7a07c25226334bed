"""Looks for weak spots of a text."""

import re

from model import Finding

LONG_SENTENCE_WORDS = 25
WORD = re.compile(r"[^\W\d_]+(?:['’-][^\W\d_]+)*")
REPEATED = re.compile(r"\b(\w+)\s+\1\b", re.IGNORECASE)


def words_of(text: str) -> list[str]:
    return WORD.findall(text)


def sentences_of(text: str) -> list[str]:
    return [part.strip() for part in re.split(r"(?<=[.!?])\s+|\n{2,}", text) if words_of(part)]


def measure(text: str) -> Finding:
    words, sentences = len(words_of(text)), len(sentences_of(text))
    return Finding("length", f"{words} words in {sentences} sentences")


def long_sentences(text: str) -> list[Finding]:
    lengths = ((sentence, len(words_of(sentence))) for sentence in sentences_of(text))
    return [
        Finding("long-sentence", f"{length} words: {sentence[:60]}")
        for sentence, length in lengths
        if length > LONG_SENTENCE_WORDS
    ]


def repeated_words(text: str) -> list[Finding]:
    return [Finding("repeated-word", match.group(0)) for match in REPEATED.finditer(text)]


def commented_terms(text: str, comment: str) -> list[Finding]:
    """How often the text uses the terms that the reviewer has put in quotes."""
    lower = text.lower()
    return [
        Finding("term", f'"{term}" is used {lower.count(term.lower())} times')
        for term in re.findall(r'"([^"]+)"', comment)
    ]
