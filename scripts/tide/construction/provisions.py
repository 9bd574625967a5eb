"""The elements of the corpus by id, their dates and order, and how a model is shown them."""

from __future__ import annotations

from collections import Counter, defaultdict, deque
from collections.abc import Iterable, Sequence

from scripts.files import DataError
from scripts.records import canonical_digest
from scripts.tide import shown_text
from scripts.tide.rows import Element

#: Sorts elements without a date after all dated ones.
UNDATED = "9999-99-99"
#: Longest text of one provision that a model is shown whole.
SHOWN_CHARACTERS = 6000
_HEAD_CHARACTERS = 4000
#: Category of the metadata that identify an instrument, as against its pages.
HEAD_CATEGORY = "document"


class Corpus:
    """Elements by id; DataError when two share an id."""

    def __init__(self, elements: Sequence[Element]) -> None:
        self.elements = {element.element_id: element for element in elements}
        if len(self.elements) < len(elements):
            counts = Counter(element.element_id for element in elements)
            twice = min(element_id for element_id, n in counts.items() if n > 1)
            raise DataError(f"element {twice} stands twice in the elements; gather them again")
        self._place = {element.element_id: n for n, element in enumerate(elements)}
        heads: dict[str, list[str]] = defaultdict(list)
        for element in elements:
            if element.type == "metadata" and element.category == HEAD_CATEGORY:
                heads[element.document] += [element.title, element.text]
        self._heads = {document: "\n".join(texts) for document, texts in heads.items()}

    def __contains__(self, element_id: object) -> bool:
        return element_id in self.elements

    def __getitem__(self, element_id: str) -> Element:
        return self.elements[element_id]

    def date(self, element_id: str) -> str:
        """Date of the element's instrument (ISO); empty when the record has none."""
        return self.elements[element_id].document_date or ""

    def head(self, document: str) -> str:
        """The texts that identify an instrument: its titles, number and date as printed."""
        return self._heads.get(document, "")

    def ordered(self, element_ids: Iterable[str]) -> list[str]:
        """The ids, each once, by date, document and place in the document; undated ones last."""
        return sorted(set(element_ids), key=self._key)

    def _key(self, element_id: str) -> tuple[str, str, int]:
        element = self.elements[element_id]
        return element.document_date or UNDATED, element.document, self._place[element_id]


def documents_in_order(elements: Iterable[Element]) -> list[list[Element]]:
    """The elements of each document in their order; documents by date, then by name."""
    by_document: dict[str, list[Element]] = defaultdict(list)
    for element in elements:
        by_document[element.document].append(element)
    order = sorted(by_document, key=lambda d: (by_document[d][0].document_date or UNDATED, d))
    return [by_document[document] for document in order]


def spread(element_ids: Iterable[str], corpus: Corpus) -> list[str]:
    """The ids in an order of which every beginning is spread over their dates.

    First the earliest and the latest; then date by date in turn, one provision of each before the
    second of any, the dates in an order that halves the gaps.
    """
    ordered = corpus.ordered(element_ids)
    by_date: dict[str, list[str]] = {}
    for element_id in ordered:
        by_date.setdefault(corpus.date(element_id), []).append(element_id)
    days = list(by_date.values())
    chosen = dict.fromkeys((*ordered[:1], *ordered[-1:]))
    for level in range(max(map(len, days), default=0)):
        for place in halving(len(days)):
            if level < len(days[place]):
                chosen.setdefault(days[place][level])
    return list(chosen)


def halving(count: int) -> list[int]:
    """0 to count - 1: the ends first, then the middle of what is left, and so on."""
    order = list(dict.fromkeys((0, count - 1))) if count else []
    gaps = deque([(0, count - 1)])
    while gaps:
        low, high = gaps.popleft()
        middle = (low + high) // 2
        if middle not in (low, high) and high > low:
            order.append(middle)
            gaps += [(low, middle), (middle, high)]
    return order


def shown(text: str) -> str:
    """The part of a source text that a model sees, control marks of chat templates broken."""
    if len(text) > SHOWN_CHARACTERS:
        tail = SHOWN_CHARACTERS - _HEAD_CHARACTERS
        left_out = len(text) - SHOWN_CHARACTERS
        text = f"{text[:_HEAD_CHARACTERS]}\n[{left_out} characters left out]\n{text[-tail:]}"
    return shown_text.shown(text)


def fence(text: str) -> str:
    """The text between two lines with a mark that does not occur in it.

    Instructions inside a source text cannot close the fence: the mark follows from the text.
    """
    attempt = 0
    while (mark := canonical_digest(["source text", attempt, text])[:12]) in text:
        attempt += 1
    return f"<<<SOURCE {mark}\n{text}\nSOURCE {mark}>>>"
