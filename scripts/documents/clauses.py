"""What a line of an instrument is: the start of a clause, a heading, a signature; a clause's title.

Pure functions on the text of a line; scripts/documents/records.py walks the document with them.
Source: TIDE A.8.1, the rules on metadata, clauses, numbering and titles.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from scripts.documents.numerals import BENGALI_CONSONANTS, number, suffix_place

Place = tuple[int, int]

#: Bracketed insertions of a consolidated law: `62[৫।` is clause ৫ with its footnote's number.
_INSERTED = r"(?:\[?[0-9০-৯]{1,4}\[\s*)*\[?"
_BENGALI = rf"(?P<bengali>[০-৯]{{1,3}})(?P<bengali_suffix>[{BENGALI_CONSONANTS}]{{0,2}})"
_ARABIC = r"(?P<arabic>[0-9]{1,3})(?P<arabic_suffix>[A-Z]{0,2})"
# The danda has a double (U+09F7) that is printed the same.
_START = re.compile(
    rf"\s*{_INSERTED}(?P<printed>{_BENGALI}\s*[।৷](?!\d)|{_ARABIC}\s*(?:[।৷]|\.(?![0-9০-৯.])))\s*"
)
_HEAD_WORD = (
    r"Section|Article|Rule|Regulation|Paragraph|ধারা|অনুচ্ছেদ|বিধি|প্রবিধি|প্রবিধান|"
    r"SECTION|ARTICLE|RULE|REGULATION"
)
_HEAD = re.compile(
    rf"\s*(?P<printed>(?:{_HEAD_WORD})\s+(?P<value>[0-9০-৯]{{1,3}})"
    rf"(?P<suffix>[A-Z{BENGALI_CONSONANTS}]{{0,2}}))\s*(?:[.।:]|[—–―-]|$)\s*"
)


@dataclass(frozen=True, slots=True)
class Start:
    """The numeral at the start of a clause: its style, its place, and where the text after begins.

    Styles: `bengali` (Bengali numeral and danda), `arabic` (Arabic numeral and period), `head`
    (a word such as Section before the numeral). `place` is (number, inserted letter); `printed` the
    numeral with its mark.
    """

    style: str
    place: Place
    end: int
    printed: str


def clause_start(line: str) -> Start | None:
    """The clause numeral that a line begins with, or None.

    Decimals, dates and tariff codes (`4.5`, `09.06.2011`, `০৯.০১`) are no clause numerals, nor is
    a year; whether a numeral fits its place in the document is for the caller to say.
    """
    match = _START.match(line)
    if match:
        style = "bengali" if match["bengali"] else "arabic"
        value = match["bengali"] or match["arabic"]
        suffix = match["bengali_suffix"] if match["bengali"] else match["arabic_suffix"]
        place = number(value), suffix_place(suffix)
        return Start(style, place, match.end(), match["printed"])
    match = _HEAD.match(line)
    if match:
        place = number(match["value"]), suffix_place(match["suffix"])
        return Start("head", place, match.end(), match["printed"])
    return None


def printed_numeral(text: str) -> str:
    """The numeral at the start of a clause's text, after its heading if any, else empty."""
    lines = text.split("\n", 2)[:2]
    found = next((start for line in lines if (start := clause_start(line))), None)
    return found.printed if found else ""


_ORDINAL = (
    r"প্রথম|দ্বিতীয়|তৃতীয়|চতুর্থ|পঞ্চম|ষষ্ঠ|সপ্তম|অষ্টম|নবম|দশম|একাদশ|দ্বাদশ|ত্রয়োদশ|চতুর্দশ|পঞ্চদশ|ষোড়শ|সপ্তদশ|"
    r"অষ্টাদশ|ঊনবিংশ|বিংশ|একবিংশ"
)
_CHAPTER_WORD = r"অধ্যায়|ভাগ|অংশ|খণ্ড|পরিচ্ছেদ"
_SCHEDULE_WORD = r"তফসিল|তফশিল|পরিশিষ্ট|সংযোজনী|ফরম"
_COUNT = r"[-–—:\s]*(?:[0-9০-৯]{1,3}|[IVXLC]{1,7}|[A-Z]|[ক-হ])?"
_LATIN_ORDINAL = (
    r"(?:THE\s+)?(?:(?:FIRST|SECOND|THIRD|FOURTH|FIFTH|SIXTH|SEVENTH|EIGHTH|NINTH|TENTH)\s+)?"
)
_REST = r"(?:\s*[-–—:.\[(].*)?"
_CHAPTER = re.compile(
    rf"\s*(?:(?:{_ORDINAL})\s+(?:{_CHAPTER_WORD})|(?:{_CHAPTER_WORD})\s*[-–—:]?\s*[0-9০-৯ক-হ]{{1,3}}|"
    r"(?:CHAPTER|PART|Chapter|Part)\s*[-–—:]?\s*(?:[IVXLC]+|[0-9০-৯]{1,3}|[A-Z])\b"
    rf"){_REST}\s*"
)
_SCHEDULE = re.compile(
    rf"\s*(?:(?:(?:{_ORDINAL})\s+)?(?:{_SCHEDULE_WORD}){_COUNT}|"
    rf"{_LATIN_ORDINAL}(?:SCHEDULE|ANNEX(?:URE)?|APPENDIX|FORM)\b{_COUNT}|"
    rf"(?:(?:First|Second|Third|Fourth|Fifth)\s+)?(?:Schedule|Annex(?:ure)?|Appendix)\b{_COUNT}"
    rf"){_REST}\s*"
)
_NUKTA = {"\u09df": "\u09af\u09bc", "\u09dc": "\u09a1\u09bc", "\u09dd": "\u09a2\u09bc"}
_TERMINAL = re.compile(r"[।৷;:.,—–―-][\s”’\"')\]]*$|[”’)\]]$|\.\.+$")
#: Signs of notes after the end of a sentence.
_ORNAMENTS = " *†‡§♠♣♥♦¹²³"
_HEADING_LENGTH = 100


def spelled(text: str) -> str:
    """A text with Bengali letters of two encodings in the one that the patterns use."""
    for precomposed, pair in _NUKTA.items():
        text = text.replace(precomposed, pair)
    return text


def heading_kind(line: str) -> str:
    """`chapter`, `schedule` or an empty string: whether a line heads a part of the document."""
    text = spelled(line)
    if len(text) > _HEADING_LENGTH or text.rstrip().endswith(("।", ";", ",")):
        return ""
    if _CHAPTER_PATTERN.fullmatch(text):
        return "chapter"
    return "schedule" if _SCHEDULE_PATTERN.fullmatch(text) else ""


_CHAPTER_PATTERN = re.compile(spelled(_CHAPTER.pattern))
_SCHEDULE_PATTERN = re.compile(spelled(_SCHEDULE.pattern))


def is_terminated(line: str) -> bool:
    """Whether a line ends with a mark that can end a sentence, an item or an introduction."""
    return bool(_TERMINAL.search(line.rstrip(_ORNAMENTS)))


def is_short_title(line: str) -> bool:
    """Whether a line could be a heading: short, no sentence mark at its end, no numbering sign."""
    text = line.strip()
    return (
        0 < len(text) <= _HEADING_LENGTH + 50
        and not re.search(r"[।৷;:,—–―.-]$", text)
        and not re.match(r"\(?[\w]{1,4}\)", text)
        and not re.match(r"[“„\"‘*]", text)
    )


_ORDER = re.compile(r"আদেশক্রমে|আদেশানুসারে|^\s*By\s+(?:the\s+)?order\b", re.I)
_COPIES = re.compile(
    r"^\s*(?:অনুলিপি|বিতরণ|সদয় অবগতি|Copy (?:forwarded|to)|Distribution)\b|^\s*(?:অনুলিপি|বিতরণ)",
    re.I,
)
_OFFICE = re.compile(
    spelled(
        r"(?:সচিব|চেয়ারম্যান|সদস্য|মহাপরিচালক|কমিশনার|রাষ্ট্রপতি|মন্ত্রী|গভর্নর|পরিচালক|"
        r"উপসচিব|উপ-সচিব|সিনিয়র সচিব|স্বাক্ষরিত|"
        r"\b(?:Secretary|Chairman|Chairperson|Member|Commissioner|Director(?:[ -]General)?|"
        r"President|Minister|Governor|Sd/-?))"
    )
)
_IMPRINT = re.compile(
    r"bgpress|^\s*(?:মুদ্রক|মুদ্রিত|প্রকাশক|মূল্য\s*[:ঃ]|Printed (?:and published )?by|website\s*:)", re.I
)
_INSTRUMENT = re.compile(
    r"^\s*(?:এস\s*[.,]?\s*আর\s*[.,]?\s*ও|S\s*\.?\s*R\s*\.?\s*O)[.,]?\s*(?:নং|নম্বর|No)", re.I
)
_SIGNATURE_LENGTH = 90


def signature_kind(line: str) -> str:
    """`order`, `office`, `copies` or `imprint` for a line of a closing block, else empty.

    `order`: by order of an authority. `office`: a name of an office standing alone. `copies`: to
    whom copies go. `imprint`: printer, price, address of the press.
    """
    text = spelled(line.strip())
    if len(text) > _SIGNATURE_LENGTH:
        return ""
    if _IMPRINT.search(text):
        return "imprint"
    if _COPIES.search(text):
        return "copies"
    if text.endswith(("।", ";", ":", "—", "-")) and not re.search(r"আদেশক্রমে\s*,?\s*।?$", text):
        return ""
    if _ORDER.search(text) and len(text.split()) <= 10:
        return "order"
    return "office" if _OFFICE.search(text) and len(text.split()) <= 8 else ""


def is_instrument_number(line: str) -> bool:
    """Whether a line begins with the number of a statutory order, so a new instrument begins."""
    return bool(_INSTRUMENT.search(line))


_DASH = r"[—–―]|--+|-(?=[\s(“\"]|$)"
_STRONG = re.compile(
    rf"(?P<title>[^।৷;:“”\"\[\]]{{1,240}}?)\s*(?:[।৷]\s*(?:{_DASH})|\.\s*(?:{_DASH}))"
)
_BARE = re.compile(r"(?P<title>[^।৷;:,.“”\"()\[\]]{1,80}?)\s*[—–―]\s*(?=\S)")
_LIST_NEXT = re.compile(r"\((?![0-9০-৯])\w{1,4}\)|\n")
_NO_TITLE_END = re.compile(r"(?:এর|এ|তে|হইলে|যদি|may|shall|of|in|that|to|by|for|unless)\s*$")


def inline_title(text: str, start: int) -> tuple[str, int]:
    """The heading phrase of a clause's text after its numeral, and where the body begins.

    The phrase ends at a dash that follows a sentence mark (`।—`, `.—`, `.--`), or at a bare long
    dash when what comes before it reads like a heading and what comes after is no list. No heading:
    an empty string and `start`.
    """
    match = _STRONG.match(text, start)
    if match:
        title = " ".join(match["title"].split())
        if title and not re.match(r"\(", title):
            return title, match.end()
    match = _BARE.match(text, start)
    if match and not _LIST_NEXT.match(text, match.end()):
        title = " ".join(match["title"].split())
        if not _NO_TITLE_END.search(title) and "\n" not in text[match.end() - 1 : match.end()]:
            return title, match.end()
    return "", start


def follows(last: Place, place: Place) -> bool:
    """Whether a numeral is the next one: one more, or an inserted letter of the same number."""
    return place[0] == last[0] + 1 or (place[0] == last[0] and place[1] > 0)
