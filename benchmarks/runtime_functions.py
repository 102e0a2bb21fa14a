"""What the runtime's benchmark computes with: sentences, a tokenizer, a normaliser, a guesser of languages.

A module of its own, since worker processes import functions by name.
"""

from __future__ import annotations

import itertools
import random
import re
import shutil
import subprocess
from collections import Counter

WORDS = [
    "the",
    "of",
    "and",
    "to",
    "in",
    "that",
    "was",
    "it",
    "is",
    "for",
    "on",
    "with",
    "his",
    "they",
    "at",
    "be",
    "this",
    "from",
    "have",
    "by",
    "not",
    "but",
    "what",
    "all",
    "were",
    "when",
    "we",
    "there",
    "can",
    "an",
    "your",
    "which",
    "their",
    "said",
    "if",
    "do",
    "will",
    "each",
    "about",
    "how",
    "up",
    "out",
    "them",
    "then",
    "she",
    "many",
    "some",
    "so",
    "these",
    "would",
    "other",
    "into",
    "has",
    "more",
    "her",
    "two",
    "like",
    "him",
    "see",
    "time",
    "could",
    "no",
    "make",
    "than",
    "first",
    "been",
    "its",
    "who",
    "now",
    "people",
    "my",
    "made",
    "over",
    "did",
    "down",
    "only",
    "way",
    "find",
    "use",
    "may",
    "water",
    "long",
    "little",
    "very",
    "after",
    "words",
    "called",
    "just",
    "where",
    "most",
    "know",
    "printing",
    "letter",
    "volume",
    "prison",
    "officer",
    "president",
    "street",
    "window",
    "morning",
    "evening",
    "garden",
    "mountain",
    "river",
    "silver",
    "copper",
    "station",
    "railway",
    "engine",
    "doctor",
    "captain",
    "soldier",
    "village",
    "kingdom",
    "machine",
    "history",
    "science",
    "question",
    "remember",
    "together",
    "important",
    "different",
    "beautiful",
    "necessary",
    "government",
    "according",
    "something",
    "everything",
    "understanding",
    "particularly",
    "circumstances",
    "nevertheless",
    "extraordinary",
    "responsibility",
]
NAMES = ("Mr. Oswald", "Mrs. Paine", "Dr. Hume", "London", "Newgate", "Dallas", "Baltimore", "Gutenberg")


def sentences(count: int, seed: int = 1) -> list[str]:
    """Return sentences of the length that read-aloud corpora have: 6 to 27 words, some numbers, names and marks."""
    source = random.Random(seed)  # noqa: S311 - sentences are no secrets
    made: list[str] = []
    for _ in range(count):
        words = source.choices(WORDS, k=source.randint(6, 27))
        if source.random() < 0.3:
            words[source.randrange(len(words))] = str(source.randint(2, 1999))
        if source.random() < 0.3:
            words[source.randrange(len(words))] = source.choice(NAMES)
        if len(words) > 10:
            words[len(words) // 2] += ","
        text = " ".join(words)
        made.append(text[0].upper() + text[1:] + ".")
    return made


SHORT = {"mr.": "mister", "mrs.": "missis", "dr.": "doctor"}
UNITS = [
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
]
TENS = ["zero", "ten", "twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"]


def spoken(number: int) -> str:
    """Return a number below ten thousand in words."""
    if number < 20:
        return UNITS[number]
    if number < 100:
        return TENS[number // 10] + (f" {UNITS[number % 10]}" if number % 10 else "")
    size, name = (1000, "thousand") if number >= 1000 else (100, "hundred")
    rest = number % size
    return f"{spoken(number // size)} {name}" + (f" {spoken(rest)}" if rest else "")


def normalize(text: str) -> str:
    """Return a sentence in small letters, with numbers and shortened titles in words."""
    text = re.sub(r"\b(?:mr|mrs|dr)\.", lambda match: SHORT[match.group().lower()], text, flags=re.IGNORECASE)
    text = re.sub(r"\d+", lambda match: spoken(int(match.group()) % 10_000), text)
    return re.sub(r"\s+", " ", text.lower()).strip()


COMMON = {
    "en": [
        "the",
        "of",
        "and",
        "to",
        "in",
        "that",
        "was",
        "it",
        "is",
        "for",
        "on",
        "with",
        "at",
        "be",
        "this",
        "from",
        "have",
    ],
    "de": [
        "der",
        "die",
        "das",
        "und",
        "in",
        "den",
        "von",
        "zu",
        "mit",
        "sich",
        "auf",
        "ist",
        "im",
        "dem",
        "nicht",
        "ein",
    ],
    "fr": [
        "de",
        "la",
        "le",
        "et",
        "les",
        "des",
        "en",
        "un",
        "du",
        "une",
        "que",
        "est",
        "pour",
        "qui",
        "dans",
        "a",
        "par",
    ],
    "es": [
        "de",
        "la",
        "que",
        "el",
        "en",
        "y",
        "a",
        "los",
        "del",
        "se",
        "las",
        "por",
        "un",
        "para",
        "con",
        "no",
        "una",
        "su",
    ],
}


def language(text: str) -> str:
    """Return the language whose commonest words a text has most of."""
    words = re.findall(r"\w+", text.lower())
    return max(COMMON, key=lambda name: sum(word in COMMON[name] for word in words))


def _merges(count: int) -> dict[tuple[str, str], int]:
    """Learn byte-pair merges from sentences, each round the pair that stands side by side most often."""
    counts = Counter(word for text in sentences(300, seed=2) for word in normalize(text).split())
    words = {tuple(word): number for word, number in counts.items()}
    ranks: dict[tuple[str, str], int] = {}
    for rank in range(count):
        pairs: Counter[tuple[str, str]] = Counter()
        for word, number in words.items():
            for pair in itertools.pairwise(word):
                pairs[pair] += number
        if not pairs:
            break
        best = max(pairs, key=lambda pair: (pairs[pair], pair))
        ranks[best] = rank
        words = {merged(word, best): number for word, number in words.items()}
    return ranks


def merged(word: tuple[str, ...], pair: tuple[str, str]) -> tuple[str, ...]:
    """Return a word with every occurrence of a pair made one."""
    made: list[str] = []
    index = 0
    while index < len(word):
        if word[index : index + 2] == pair:
            made.append(pair[0] + pair[1])
            index += 2
        else:
            made.append(word[index])
            index += 1
    return tuple(made)


RANKS = _merges(150)


def tokenize(text: str) -> list[int]:
    """Return byte-pair tokens of a sentence, in plain Python: it holds the GIL all the time."""
    made: list[int] = []
    for word in normalize(text).split():
        parts = tuple(word)
        while len(parts) > 1:
            best = min(
                itertools.pairwise(parts),
                key=lambda pair: RANKS.get(pair, len(RANKS)),
                default=None,
            )
            if best is None or best not in RANKS:
                break
            parts = merged(parts, best)
        made += [hash_of(part) for part in parts]
    return made


def hash_of(part: str) -> int:
    """Return a number for a part that is the same in every process."""
    number = 0
    for letter in part:
        number = (number * 257 + ord(letter)) % 65_521
    return number


ESPEAK = shutil.which("espeak-ng")


def phonemes(text: str) -> list[int]:
    """Return phonemes as espeak-ng gives them: a process for each sentence, while which the GIL is free."""
    assert ESPEAK is not None
    done = subprocess.run([ESPEAK, "-q", "--ipa", text], capture_output=True, check=True)
    return [ord(letter) for letter in done.stdout.decode().strip()]
