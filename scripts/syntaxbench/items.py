"""Test items and held-out demonstrations of the six tasks, in English and random pairs.

Every choice hangs on SHA-256 of (seed, task, word), never on a place in a list: words come in the
order of such hashes, and what belongs to a word (its random twin, the letter asked for, its
partners) is drawn from a stream of its own. So a smaller count is a prefix of a larger one, a word
more in the vocabulary changes one item or none, and no task disturbs another. Demonstrations come
from the other end of the order. Paper: sections 3.1, 3.2 and appendix A.1, A.2.
"""

from __future__ import annotations

import hashlib
import random
from bisect import bisect_left
from collections import defaultdict
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import islice
from string import ascii_lowercase
from typing import Any

from rapidfuzz.distance import Levenshtein

from scripts.corpora.readers import Document, is_palindrome
from scripts.files import DataError
from scripts.records import Item, canonical_json, content_id
from scripts.syntaxbench.tasks import BENCHMARK, CONDITIONS, task_named

# Draws before a constraint counts as impossible (3-letter strings: 17,576 of them).
_ATTEMPTS = 2000
# Words kept back for demonstrations, per demonstration: a longest-string list takes up to six.
_HELD_OUT_WORDS = 8


def _digest(*parts: Any) -> bytes:
    return hashlib.sha256(canonical_json(list(parts)).encode("ascii")).digest()


def _hashes(words: Sequence[str], *name: Any) -> list[tuple[bytes, str]]:
    """(SHA-256 of name and word, word), sorted: a seeded order in which each word stands alone."""
    prefix = hashlib.sha256(canonical_json(list(name)).encode("ascii"))
    keyed = []
    for word in words:
        digest = prefix.copy()
        digest.update(word.encode("utf-8"))
        keyed.append((digest.digest(), word))
    return sorted(keyed)


class Stream:
    """A seeded random stream named by its parts.

    Uses `random.Random.random` only: Python documents that method, unlike `shuffle` or `sample`,
    as giving the same numbers in every version.
    """

    def __init__(self, *parts: Any) -> None:
        self._random = random.Random(int.from_bytes(_digest(*parts), "big"))

    def below(self, bound: int) -> int:
        """A uniform integer in [0, bound)."""
        return int(self._random.random() * bound)

    def between(self, low: int, high: int) -> int:
        """A uniform integer in [low, high], both ends included."""
        return low + self.below(high - low + 1)

    def pick(self, values: Sequence[Any]) -> Any:
        """One of the values, uniformly."""
        return values[self.below(len(values))]

    def letters(self, length: int) -> str:
        """A string of that length, uniform over a-z."""
        return "".join(self.pick(ascii_lowercase) for _ in range(length))

    def shuffled(self, values: Sequence[Any]) -> list[Any]:
        """The values in uniformly random order (Fisher-Yates)."""
        out = list(values)
        for last in range(len(out) - 1, 0, -1):
            other = self.below(last + 1)
            out[last], out[other] = out[other], out[last]
        return out


@dataclass(frozen=True)
class Materials:
    """The corpora that items are made of.

    `vocabulary`, `palindromes`: sorted case-folded words (`corpora.readers`); `names` says for each
    role (vocabulary, palindromes, documents) which corpus it came from. `documents_reused` allows
    several items per document, with different spans.
    """

    vocabulary: Sequence[str]
    palindromes: Sequence[str] = ()
    documents: Sequence[Document] = ()
    names: Mapping[str, str] = field(default_factory=dict)
    documents_reused: bool = False


@dataclass(frozen=True)
class TaskItems:
    """What one task consists of: test items, and the held-out demonstrations in their order."""

    items: list[Item]
    demonstrations: list[Item]


@dataclass(frozen=True)
class Pair:
    """An English and a random question of the same shape, as (inputs, answer) by condition.

    `key` names the pair, `role` the corpus that its English question comes from.
    """

    key: str
    questions: Mapping[str, tuple[dict[str, Any], Any]]
    role: str = "vocabulary"
    source: Mapping[str, Any] = field(default_factory=dict)


class WordOrder:
    """Words in the order of their hashes, and draws from them that insertions hardly disturb."""

    def __init__(self, words: Sequence[str], *name: Any) -> None:
        self.name = name
        self.words = [word for _, word in _hashes(words, *name, "order")]

    def split(self, held_out: int) -> tuple[WordOrder, WordOrder]:
        """(front, back): all but the last `held_out` words, and those, last word first."""
        front, back = WordOrder([], *self.name), WordOrder([], *self.name)
        cut = max(len(self.words) - held_out, 0)
        front.words, back.words = self.words[:cut], self.words[cut:][::-1]
        return front, back

    @cached_property
    def _ring(self) -> tuple[list[bytes], list[str]]:
        keyed = _hashes(self.words, *self.name, "ring")
        return [key for key, _ in keyed], [word for _, word in keyed]

    def draw(self, *parts: Any) -> str:
        """A word by hash of the parts: the next one on a ring, so one more word moves few draws.

        A word's chance is the gap before it on the ring: random, but independent of the word.
        """
        keys, words = self._ring
        return words[bisect_left(keys, _digest(*self.name, "draw", *parts)) % len(words)]


class _Builder:
    """One task under construction: the order of its words and the strings already used up."""

    def __init__(self, task: str, materials: Materials, seed: int, options: Mapping[str, Any]):
        self.task = task
        self.materials = materials
        self.seed = seed
        self.options = options
        self.forbidden = set(materials.vocabulary) | set(materials.palindromes)
        self.used: set[str] = set()

    def stream(self, *parts: Any) -> Stream:
        return Stream(self.seed, self.task, *parts)

    def bit(self, *parts: Any) -> bool:
        """A fair coin named by its parts."""
        return bool(_digest(self.seed, self.task, *parts)[0] & 1)

    def attempt(self, what: str, draw: Callable[[int], Any]) -> Any:
        """The first draw that is not None."""
        for number in range(_ATTEMPTS):
            value = draw(number)
            if value is not None:
                return value
        raise DataError(
            f"{self.task}: no {what} in {_ATTEMPTS} draws; "
            "give a larger vocabulary, longer words or fewer items"
        )

    def random_string(
        self, word: str, accept: Callable[[str], bool] = lambda _: True, mirrored: bool = False
    ) -> str:
        """The random twin of a word: same length, uniform over a-z.

        Redrawn where it is an English word, was used before in this task, or is not accepted.
        The first draw is the same in all tasks: the paper's one random vocabulary.
        """

        def draw(number: int) -> str | None:
            text = Stream(self.seed, "random_string", mirrored, word, number).letters(len(word))
            if mirrored:
                half = text[: (len(word) + 1) // 2]
                text = half + half[: len(word) // 2][::-1]
            fresh = text not in self.used and text not in self.forbidden
            return text if fresh and accept(text) else None

        text: str = self.attempt(f"new random string of {len(word)} letters", draw)
        self.used.add(text)
        return text


Pairs = Iterator[Pair]


def _answered(builder: _Builder, order: WordOrder) -> Pairs:
    """Pairs of a task whose right answer its entry in tasks.py computes."""
    answer = task_named(builder.task).answer
    if answer is None:
        raise DataError(
            f"{builder.task}: nothing draws its items; give it an answer in tasks.py or a "
            "generator in items.py"
        )
    for word in order.words:
        inputs = ({"string": text} for text in (word, builder.random_string(word)))
        yield Pair(
            word,
            {name: (each, answer(each)) for name, each in zip(CONDITIONS, inputs, strict=True)},
        )


def _letter(builder: _Builder, order: WordOrder, word: str, twin: str, present: bool) -> Pair:
    """Letters asked for: present ones from a random place of the string, absent ones from a random
    place of another string, so that a letter's frequency does not give the answer away.
    """

    def absent(text: str, donor: Callable[[int], str]) -> Callable[[int], str | None]:
        def draw(number: int) -> str | None:
            letter: str = builder.stream("absent", text, number).pick(donor(number))
            return None if letter in text else letter

        return draw

    if present:
        letters = [builder.stream("present", text).pick(text) for text in (word, twin)]
    else:
        english = absent(word, lambda number: order.draw("donor", word, number))
        uniform = absent(twin, lambda _: ascii_lowercase)
        letters = [builder.attempt("absent letter", draw) for draw in (english, uniform)]
    if builder.bit("upper", word):
        letters = [letter.upper() for letter in letters]
    answer = "yes" if present else "no"
    return Pair(
        word,
        {
            condition: ({"string": text, "letter": letter}, answer)
            for condition, text, letter in zip(CONDITIONS, (word, twin), letters, strict=True)
        },
    )


def _letter_container(builder: _Builder, order: WordOrder) -> Pairs:
    """Pairs with yes and no in turn; which words are asked with yes is a coin per word."""
    present = (word for word in order.words if builder.bit("answer", word))
    missing = (word for word in order.words if not builder.bit("answer", word))
    for yes, no in zip(present, missing, strict=False):
        pair = []
        for word, is_present in ((yes, True), (no, False)):
            twin = builder.random_string(word)
            pair.append(_letter(builder, order, word, twin, is_present))
        yield from pair if builder.bit("turn", yes) else pair[::-1]


def _palindrome_pairs(
    builder: _Builder, positives: WordOrder, negative: Callable[[int], str]
) -> Pairs:
    """Pairs with yes and no in turn. A non-palindrome has the length of the palindrome before it,
    so that length does not give the answer away.
    """
    known = set(builder.materials.vocabulary)
    for word in positives.words:
        other = negative(len(word))
        twin = builder.random_string(word, mirrored=True)
        other_twin = builder.random_string(other, accept=lambda text: not is_palindrome(text))
        role = "vocabulary" if word in known else "palindromes"
        yes, no = (
            Pair(
                english,
                {
                    "english": ({"string": english}, answer),
                    "random": ({"string": text}, answer),
                },
                source,
            )
            for english, text, answer, source in (
                (word, twin, "yes", role),
                (other, other_twin, "no", "vocabulary"),
            )
        )
        yield from (yes, no) if builder.bit("turn", word) else (no, yes)


class Negatives:
    """Words that are no palindromes, by length; tests take from the front, demonstrations from the
    back.
    """

    def __init__(self, order: WordOrder) -> None:
        self._by_length: dict[int, list[str]] = defaultdict(list)
        self._taken: dict[tuple[int, bool], int] = defaultdict(int)
        for word in order.words:
            if not is_palindrome(word):
                self._by_length[len(word)].append(word)

    def take(self, length: int, from_back: bool = False) -> str:
        """The next word of that length; DataError when front and back have met."""
        words = self._by_length[length]
        if self._taken[length, False] + self._taken[length, True] >= len(words):
            raise DataError(
                f"palindrome_test: only {len(words)} non-palindromes of {length} letters in the "
                "vocabulary; give a larger vocabulary or fewer items"
            )
        number = self._taken[length, from_back]
        self._taken[length, from_back] += 1
        return words[-1 - number] if from_back else words[number]


def _edit_distance(builder: _Builder, order: WordOrder) -> Pairs:
    """Two independent draws from the vocabulary, as in the paper: the spread of the answers comes
    from the spread of the word lengths.
    """
    seen: set[frozenset[str]] = set()
    for word in order.words:

        def draw(number: int, word: str = word) -> str | None:
            other = order.draw("partner", word, number)
            return None if other == word or frozenset((word, other)) in seen else other

        partner: str = builder.attempt("second word", draw)
        seen.add(frozenset((word, partner)))
        texts = {
            "english": (word, partner),
            "random": (builder.random_string(word), builder.random_string(partner)),
        }
        yield Pair(
            word,
            {
                condition: ({"first": a, "second": b}, int(Levenshtein.distance(a, b)))
                for condition, (a, b) in texts.items()
            },
        )


def _longest_string_finder(builder: _Builder, order: WordOrder) -> Pairs:
    """Lists around a word: the others are drawn until one string is strictly the longest."""
    low, high = builder.options["strings"]
    for word in order.words:
        size = builder.stream("size", word).between(low, high)

        def draw(number: int, word: str = word, size: int = size) -> list[str] | None:
            others = [order.draw("list", word, number, place) for place in range(size - 1)]
            words = [word, *others]
            lengths = sorted((len(text) for text in words), reverse=True)
            return words if len(set(words)) == size and lengths[0] > lengths[1] else None

        words: list[str] = builder.attempt("list with one longest word", draw)
        words = builder.stream("shuffle", word).shuffled(words)
        twins = [builder.random_string(text) for text in words]
        yield Pair(
            word,
            {
                "english": ({"strings": words}, max(words, key=len)),
                "random": ({"strings": twins}, max(twins, key=len)),
            },
        )


def _random_document(builder: _Builder, order: WordOrder, document: Document) -> str:
    """As many random strings as the document has words, their lengths drawn from the vocabulary."""

    def string(place: int) -> str:
        word = order.draw("random document", document.document_id, place)

        def draw(number: int) -> str | None:
            text = Stream(builder.seed, "random_string", False, word, number).letters(len(word))
            return None if text in builder.forbidden else text

        drawn: str = builder.attempt("random string", draw)
        return drawn

    return " ".join(string(place) for place in range(len(document.text.split())))


def _span(
    builder: _Builder, text: str, length: int, taken: set[tuple[int, int]], *name: Any
) -> tuple[int, int]:
    """Offsets of a new span of that length that neither begins nor ends with a space."""

    def draw(number: int) -> tuple[int, int] | None:
        start = builder.stream("span", *name, number).below(len(text) - length + 1)
        span = text[start : start + length]
        offsets = (start, start + length)
        return None if span != span.strip() or offsets in taken else offsets

    offsets: tuple[int, int] = builder.attempt("new span", draw)
    taken.add(offsets)
    return offsets


def _index_to_span(builder: _Builder, order: WordOrder, documents: Sequence[Document]) -> Pairs:
    """One item per document; further rounds with other spans where reuse is allowed."""
    low, high = builder.options["span_length"]
    texts: dict[str, dict[str, str]] = {}
    taken: dict[tuple[str, str], set[tuple[int, int]]] = defaultdict(set)
    for visit in range(_ATTEMPTS if builder.materials.documents_reused else 1):
        for document in documents:
            name = document.document_id
            if name not in texts:
                random_text = _random_document(builder, order, document)
                texts[name] = {"english": document.text, "random": random_text}
            length = builder.stream("length", name, visit).between(low, high)
            questions = {}
            for condition, text in texts[name].items():
                start, end = _span(
                    builder, text, length, taken[name, condition], condition, name, visit
                )
                inputs = {"document": text, "start": start, "end": end}
                questions[condition] = (inputs, text[start:end])
            source = {"document": name, "title": document.title, "visit": visit}
            yield Pair(f"{name}/{visit}", questions, "documents", source)


def _split_documents(
    builder: _Builder, count: int, demonstrations: int
) -> tuple[list[Document], list[Document]]:
    """(test, held-out) documents in seeded order; DataError when there are too few of them."""
    name = builder.materials.names.get("documents", "documents")
    documents = sorted(
        builder.materials.documents,
        key=lambda document: _digest(builder.seed, builder.task, "order", document.document_id),
    )
    reused = builder.materials.documents_reused
    held_out = min(demonstrations, len(documents) // 5) if reused else demonstrations
    front, back = documents[: len(documents) - held_out], documents[len(documents) - held_out :]
    if reused and front and (back or not demonstrations):
        return front, back[::-1]
    if reused or len(front) < count:
        raise DataError(
            f"index_to_span: {len(documents)} documents in {name} for {count} items and "
            f"{demonstrations} demonstrations; give more documents, or set "
            "syntaxbench.documents_reused: true to ask for several spans of one document"
        )
    return front, back[::-1]


_BY_WORD: dict[str, Callable[[_Builder, WordOrder], Pairs]] = {
    "letter_container": _letter_container,
    "edit_distance": _edit_distance,
    "longest_string_finder": _longest_string_finder,
}


def _pairs(builder: _Builder, count: int, demonstrations: int) -> tuple[Pairs, Pairs]:
    """(demonstrations, test items); the demonstrations must be drawn first."""
    materials = builder.materials
    order = WordOrder(materials.vocabulary, builder.seed, builder.task)
    if builder.task == "palindrome_test":
        held_out = (demonstrations + 1) // 2
        positives = WordOrder(materials.palindromes, builder.seed, builder.task)
        front, back = positives.split(held_out)
        negatives = Negatives(order)
        return (
            _palindrome_pairs(builder, back, partial(negatives.take, from_back=True)),
            _palindrome_pairs(builder, front, negatives.take),
        )
    front, back = order.split(_HELD_OUT_WORDS * demonstrations)
    if builder.task == "index_to_span":
        documents, held_back = _split_documents(builder, count, demonstrations)
        return (
            _index_to_span(builder, back, held_back),
            _index_to_span(builder, front, documents),
        )
    make = _BY_WORD.get(builder.task, _answered)
    return make(builder, back), make(builder, front)


def _records(builder: _Builder, pairs: Sequence[Pair]) -> list[Item]:
    """The English items, then the random ones, in the order of the pairs."""
    names = builder.materials.names
    visits = [pair.source.get("document") for pair in pairs]
    out = []
    for condition in CONDITIONS:
        for pair in pairs:
            inputs, answer = pair.questions[condition]
            source = {
                "corpus": names.get(pair.role, pair.role),
                "generator": "corpus" if condition == "english" else "uniform a-z",
                "pair": content_id(builder.task, pair.key, length=12),
                **pair.source,
            }
            if "document" in source:
                source["document_reused"] = visits.count(source["document"]) > 1
            out.append(
                Item.create(
                    BENCHMARK,
                    builder.task,
                    {"condition": condition},
                    inputs,
                    {"answer": answer},
                    source,
                )
            )
    return out


def build_task(
    task: str,
    materials: Materials,
    *,
    count: int,
    demonstrations: int,
    seed: int,
    options: Mapping[str, Any] | None = None,
) -> TaskItems:
    """`count` items and `demonstrations` held-out ones per condition.

    `options`: `strings` [low, high] for longest_string_finder, `span_length` [low, high] for
    index_to_span. Binary tasks need even numbers and are balanced yes/no in each condition.
    Raises DataError where the corpora do not suffice.
    """
    kind = task_named(task).kind
    if kind == "binary" and (count % 2 or demonstrations % 2):
        raise DataError(f"{task}: items and demonstrations must be even, to balance yes and no")
    if not materials.vocabulary:
        raise DataError(f"{task}: the vocabulary is empty; correct the corpus or its length limits")
    builder = _Builder(task, materials, seed, options or {})
    held_out, tests = _pairs(builder, count, demonstrations)
    chosen = {}
    for what, pairs, wanted in (
        ("demonstrations", held_out, demonstrations),
        ("items", tests, count),
    ):
        chosen[what] = list(islice(pairs, wanted))
        if len(chosen[what]) < wanted:
            raise DataError(
                f"{task}: the corpora give only {len(chosen[what])} of {wanted} {what} per "
                "condition; give larger corpora or ask for fewer"
            )
    built = TaskItems(
        _records(builder, chosen["items"]), _records(builder, chosen["demonstrations"])
    )
    ids = [item.item_id for item in built.items + built.demonstrations]
    if len(set(ids)) != len(ids):
        raise DataError(f"{task}: two items ask the same question; report this corpus")
    return built
