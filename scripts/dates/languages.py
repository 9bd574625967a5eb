"""The words and digits of dates in the five languages: one table a language, nothing else.

Writers (`formats.py`) use the first name of a month, readers all of them. Names follow the paper's
appendix A.1 and table 1; where it leaves a spelling open, docs/dates.md says what was chosen. Hausa
and Arabic spellings beyond the first were gathered from usage and are for reading only.
"""

from __future__ import annotations

import unicodedata
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from types import MappingProxyType

CALENDARS = ("gregorian", "hijri", "lunar")
#: Written forms of a date, in the order of growing complexity (MultiTempBench, table 1).
FORMATS = ("iso", "slash", "long", "calendar")

LEFT_TO_RIGHT_MARK = "\u200e"
#: Characters that steer the direction or joining of a text and mean nothing by themselves.
INVISIBLE_MARKS = (
    "\u200b\u200c\u200d\u200e\u200f\u061c\u202a\u202b\u202c\u202d\u202e"
    "\u2060\u2066\u2067\u2068\u2069\ufeff"
)
TATWEEL = "\u0640"

ASCII_DIGITS = "0123456789"
ARABIC_INDIC_DIGITS = "٠١٢٣٤٥٦٧٨٩"
EXTENDED_ARABIC_INDIC_DIGITS = "۰۱۲۳۴۵۶۷۸۹"
FULLWIDTH_DIGITS = "０１２３４５６７８９"
CHINESE_DIGITS = "零一二三四五六七八九"
#: Other characters for the Chinese zero: U+3007, and the white circle often typed instead.
CHINESE_ZEROS = "〇○"
#: Sets of positional digits that are no letters of running text.
POSITIONAL_DIGITS = (
    ASCII_DIGITS,
    ARABIC_INDIC_DIGITS,
    EXTENDED_ARABIC_INDIC_DIGITS,
    FULLWIDTH_DIGITS,
)
LEAP_MARKS = ("闰", "閏")

MonthNames = tuple[tuple[str, ...], ...]

_TO_ARABIC_INDIC = str.maketrans(ASCII_DIGITS, ARABIC_INDIC_DIGITS)
_TO_CHINESE = str.maketrans(ASCII_DIGITS, CHINESE_DIGITS)
_TO_ASCII = str.maketrans(
    "".join(POSITIONAL_DIGITS[1:]), ASCII_DIGITS * (len(POSITIONAL_DIGITS) - 1)
)
_CHINESE_TO_ASCII = str.maketrans(CHINESE_DIGITS + CHINESE_ZEROS, ASCII_DIGITS + "00")

_APOSTROPHES = "'’‘ʼʻ`´ʿʾ‛′ˈ"
_FOLDED = str.maketrans(
    dict.fromkeys(_APOSTROPHES + INVISIBLE_MARKS + TATWEEL + ".")
    | dict.fromkeys("-‐‑–_\u00a0", " ")
    | {"ى": "ي", "ة": "ه", "ٱ": "ا", "ی": "ي", "ک": "ك", "ƙ": "k", "ɗ": "d", "ɓ": "b"}
)


@dataclass(frozen=True, slots=True)
class Language:
    """Names of one language. Of every tuple of spellings the first is the one that is written.

    `*_months` hold twelve tuples, January, Muharram or the first lunar month first; `abbreviations`
    are short Gregorian names (a full stop may follow). `eras` maps `gregorian`, `hijri`, `lunar`
    and `before` (before the common era) to marks that say which year count a date is in.
    `connectors` may stand between the parts of a date, `day_suffixes` right after the day's number.
    `native_digits` are the digits besides the ASCII ones that texts of the language use.
    """

    code: str
    label: str
    gregorian_months: MonthNames
    abbreviations: MonthNames = ()
    hijri_months: MonthNames = ()
    lunar_months: MonthNames = ()
    eras: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    connectors: tuple[str, ...] = ()
    day_suffixes: tuple[str, ...] = ()
    native_digits: tuple[str, ...] = ()

    def months(self, calendar: str) -> MonthNames:
        """Spellings of the twelve months of a calendar, abbreviations left out; () if none."""
        return {
            "gregorian": self.gregorian_months,
            "hijri": self.hijri_months,
            "lunar": self.lunar_months,
        }[calendar]


ENGLISH = Language(
    code="en",
    label="English",
    gregorian_months=(
        ("January",),
        ("February",),
        ("March",),
        ("April",),
        ("May",),
        ("June",),
        ("July",),
        ("August",),
        ("September",),
        ("October",),
        ("November",),
        ("December",),
    ),
    abbreviations=(
        ("Jan",),
        ("Feb",),
        ("Mar",),
        ("Apr",),
        (),
        ("Jun",),
        ("Jul",),
        ("Aug",),
        ("Sep", "Sept"),
        ("Oct",),
        ("Nov",),
        ("Dec",),
    ),
    hijri_months=(
        ("Muharram", "Muharam", "Moharram", "al-Muharram"),
        ("Safar", "Saphar"),
        (
            *("Rabi' al-Awwal", "Rabi al-Awal", "Rabi ul-Awwal", "Rabiul Awwal", "Rabi' I"),
            *("Rabia al-Awwal", "Rabi al-Ula"),
        ),
        (
            *("Rabi' al-Thani", "Rabi al-Akhir", "Rabi ath-Thani", "Rabi al-Akhar", "Rabi' II"),
            *("Rabi ul-Thani", "Rabiul Thani", "Rabi ul-Akhir", "Rabiul Akhir", "Rabia al-Thani"),
        ),
        (
            *("Jumada al-Ula", "Jumada al-Awwal", "Jumada al-Oula", "Jumada I", "Jumadal Ula"),
            *("Jumada ul-Awwal", "Jumadal Awwal", "Jamadi ul-Awwal"),
        ),
        (
            *("Jumada al-Akhirah", "Jumada al-Akhira", "Jumada al-Thani", "Jumada II"),
            *("Jumada ath-Thani", "Jumada al-Thaniyah", "Jumada al-Thaniya", "Jumadal Akhirah"),
            *("Jumada al-Akhir", "Jumada ul-Thani", "Jumadal Akhira", "Jamadi ul-Thani"),
        ),
        ("Rajab",),
        ("Sha'ban", "Shaaban", "Sha'baan"),
        ("Ramadan", "Ramadhan", "Ramazan", "Ramzan"),
        ("Shawwal", "Shawal"),
        (
            *("Dhu al-Qa'dah", "Dhu al-Qidah", "Dhul Qadah", "Dhul Qidah", "Dhu al-Qada"),
            *("Zul Qadah", "Dhul-Qi'da", "Zulqadah", "Thul Qidah", "Dhu l-Qa'da", "Dhulqadah"),
        ),
        (
            *("Dhu al-Hijjah", "Dhul Hijjah", "Dhu al-Hijja", "Dhul Hijja", "Zul Hijjah"),
            *("Zulhijjah", "Thul Hijjah", "Dhu l-Hijja", "Dhulhijjah"),
        ),
    ),
    eras={
        "gregorian": ("AD", "CE", "A.D.", "C.E.", "Gregorian"),
        "hijri": ("AH", "A.H.", "H", "Hijri", "Hijrah", "Hegira"),
        "lunar": ("lunar",),
        "before": ("BC", "BCE", "B.C.", "B.C.E."),
    },
    connectors=("of", "the", "in the year", "on"),
    day_suffixes=("st", "nd", "rd", "th"),
)

GERMAN = Language(
    code="de",
    label="German",
    gregorian_months=(
        ("Januar", "Jänner", "Jaenner"),
        ("Februar", "Feber"),
        ("März", "Maerz"),
        ("April",),
        ("Mai",),
        ("Juni",),
        ("Juli",),
        ("August",),
        ("September",),
        ("Oktober",),
        ("November",),
        ("Dezember",),
    ),
    abbreviations=(
        ("Jan", "Jän"),
        ("Feb", "Febr"),
        ("Mär", "Mrz"),
        ("Apr",),
        (),
        ("Jun",),
        ("Jul",),
        ("Aug",),
        ("Sep", "Sept"),
        ("Okt",),
        ("Nov",),
        ("Dez",),
    ),
    eras={
        "gregorian": ("n. Chr.", "nach Christus", "u. Z.", "AD"),
        "hijri": ("n. H.", "d. H.", "AH", "nach der Hidschra"),
        "before": ("v. Chr.", "vor Christus", "v. u. Z."),
    },
    connectors=("des Jahres", "im Jahre", "im Jahr", "am", "der", "den", "dem"),
    day_suffixes=(".",),
)

CHINESE = Language(
    code="zh",
    label="Chinese",
    gregorian_months=(
        ("1月", "01月", "一月"),
        ("2月", "02月", "二月"),
        ("3月", "03月", "三月"),
        ("4月", "04月", "四月"),
        ("5月", "05月", "五月"),
        ("6月", "06月", "六月"),
        ("7月", "07月", "七月"),
        ("8月", "08月", "八月"),
        ("9月", "09月", "九月"),
        ("10月", "十月"),
        ("11月", "十一月"),
        ("12月", "十二月"),
    ),
    lunar_months=(
        ("正月", "一月"),
        ("二月",),
        ("三月",),
        ("四月",),
        ("五月",),
        ("六月",),
        ("七月",),
        ("八月",),
        ("九月",),
        ("十月",),
        ("冬月", "十一月"),
        ("腊月", "十二月", "臘月"),
    ),
    eras={
        "gregorian": ("公元", "西元", "公历", "阳历", "新历", "公曆", "陽曆"),
        "hijri": ("伊斯兰历", "回历", "希吉来历", "伊斯蘭曆", "回曆"),
        "lunar": ("农历", "阴历", "旧历", "夏历", "農曆", "陰曆", "舊曆"),
        "before": ("公元前", "西元前"),
    },
    connectors=("年", "的"),
    day_suffixes=("日", "号", "號"),
    native_digits=(CHINESE_DIGITS, FULLWIDTH_DIGITS),
)

ARABIC = Language(
    code="ar",
    label="Arabic",
    # First the names the paper writes; then the Levantine and Iraqi, Maghrebi and Moroccan ones.
    gregorian_months=(
        ("يناير", "كانون الثاني", "جانفي", "ينايير"),
        ("فبراير", "شباط", "فيفري"),
        ("مارس", "آذار"),
        ("أبريل", "إبريل", "نيسان", "أفريل"),
        ("مايو", "أيار", "ماي", "ماية"),
        ("يونيو", "يونية", "حزيران", "جوان"),
        ("يوليو", "يولية", "تموز", "جويلية", "يوليوز"),
        ("أغسطس", "آب", "أوت", "غشت"),
        ("سبتمبر", "أيلول", "شتنبر"),
        ("أكتوبر", "تشرين الأول", "أكتوبير"),
        ("نوفمبر", "تشرين الثاني", "نونبر"),
        ("ديسمبر", "كانون الأول", "دجنبر"),
    ),
    hijri_months=(
        ("محرم", "المحرم", "محرم الحرام"),
        ("صفر", "صفر الخير", "صفر المظفر"),
        ("ربيع الأول", "ربيع أول"),
        ("ربيع الثاني", "ربيع الآخر", "ربيع ثاني", "ربيع ثان", "ربيع آخر"),
        ("جمادى الأولى", "جمادى الأول", "جماد الأول", "جمادى أولى", "جماد أول"),
        (
            *("جمادى الآخرة", "جمادى الثانية", "جمادى الثاني", "جمادى الآخر", "جماد الثاني"),
            *("جماد الآخر", "جمادى ثانية", "جمادى آخرة"),
        ),
        ("رجب",),
        ("شعبان",),
        ("رمضان", "رمضان المبارك"),
        ("شوال",),
        ("ذو القعدة", "ذي القعدة", "ذوالقعدة", "ذا القعدة"),
        ("ذو الحجة", "ذي الحجة", "ذوالحجة", "ذا الحجة"),
    ),
    eras={
        "gregorian": ("م", "ميلادي", "ميلادية", "للميلاد", "م."),
        "hijri": ("هـ", "ه", "هجري", "هجرية", "للهجرة", "هـ."),
        "lunar": (),
        "before": ("ق.م", "ق.م.", "قبل الميلاد"),
    },
    connectors=("من", "في", "عام", "سنة", "شهر", "يوم", "من شهر", "لعام", "لسنة"),
    native_digits=(ARABIC_INDIC_DIGITS, EXTENDED_ARABIC_INDIC_DIGITS),
)

HAUSA = Language(
    code="ha",
    label="Hausa",
    gregorian_months=(
        ("Janairu", "Janaru", "Junairu"),
        ("Fabrairu", "Faburairu", "Febrairu", "Fabarairu"),
        ("Maris", "Marus"),
        ("Afrilu", "Afirilu", "Aprilu", "Afrelu"),
        ("Mayu", "Mayo"),
        ("Yuni", "Juni"),
        ("Yuli", "Juli", "Yulai"),
        ("Agusta", "Augusta", "Agosta"),
        ("Satumba", "Satunba", "Satumban"),
        ("Oktoba", "Aktoba", "Octoba"),
        ("Nuwamba", "Nuwanba", "Nowamba", "Nuwambar"),
        ("Disamba", "Disemba", "Desamba", "Dizamba"),
    ),
    hijri_months=(
        ("Muharram", "Muharam", "Almuharram"),
        ("Safar", "Safara"),
        ("Rabi'ul Awwal", "Rabi'u Lawwal", "Rabi'ul Auwal", "Rabi'ul Awal", "Rabi'u Awwal"),
        (
            *("Rabi'ul Akhir", "Rabi'us Sani", "Rabi'u Sani", "Rabi'ul Sani", "Rabi'ul Thani"),
            *("Rabi'ul Ahir", "Rabi'ul Akhira", "Rabi'us Thani"),
        ),
        (
            *("Jumadal Ula", "Jumada Ula", "Jumadal Awwal", "Jumada Lawwal", "Jimada Lawwal"),
            *("Jumadal Auwal", "Jimadal Ula", "Jumada Awwal"),
        ),
        (
            *("Jumadal Akhira", "Jumada Akhira", "Jumada Sani", "Jumadas Sani", "Jimada Sani"),
            *("Jumadal Akhir", "Jumadal Thani", "Jumadal Sani", "Jumadal Ahira"),
        ),
        ("Rajab", "Rajabu"),
        ("Sha'aban", "Sha'ban", "Sha'abana"),
        ("Ramadan", "Ramadana", "Ramadhan", "Ramalan"),
        ("Shawwal", "Shawal", "Shawwalu", "Shauwal"),
        ("Zulka'ida", "Zul Ka'ida", "Zulki'ida", "Zulƙa'ida", "Zulkida", "Zul Ki'ida", "Zulqida"),
        ("Zulhijja", "Zul Hijja", "Zulhajji", "Zulhijjah", "Zul Hijjah", "Zul Hajji"),
    ),
    eras={
        "gregorian": ("AD", "CE", "Miladiyya", "Miladi"),
        "hijri": ("AH", "A.H.", "H", "Hijira", "Hijiriyya", "bayan Hijira"),
        "before": ("BC", "BCE", "kafin haihuwar Annabi Isa"),
    },
    connectors=("ga", "ga watan", "watan", "ranar", "shekarar", "shekara ta", "a"),
)

LANGUAGES: Mapping[str, Language] = MappingProxyType(
    {language.code: language for language in (ARABIC, CHINESE, ENGLISH, GERMAN, HAUSA)}
)


def fold(text: str) -> str:
    """A name without what spellings differ in, for comparing names and never for writing them.

    Case, accents, Arabic vowel signs, hamza, tatweel and final forms, apostrophes, full stops and
    invisible marks go; hyphens and runs of white space become one space.
    """
    # Folding case can bring back composed letters and decomposing can bring back capitals.
    text = unicodedata.normalize("NFKD", unicodedata.normalize("NFKD", text).casefold())
    plain = "".join(c for c in text if not unicodedata.combining(c))
    return " ".join(plain.translate(_FOLDED).split())


@cache
def month_numbers(code: str, calendar: str) -> Mapping[str, int]:
    """Every folded spelling of the months of a calendar in a language, with the number 1 to 12.

    Gregorian months include the abbreviations. An empty mapping where a language names no months
    of that calendar.
    """
    language = LANGUAGES[code]
    names = [(n, i) for i, each in enumerate(language.months(calendar), 1) for n in each]
    if calendar == "gregorian":
        names += [(n, i) for i, each in enumerate(language.abbreviations, 1) for n in each]
    return MappingProxyType({fold(name): number for name, number in names})


def english_ordinal(number: int) -> str:
    """`1st`, `2nd`, `3rd`, `4th`, … `11th`, `12th`, `13th`, … `21st`, …"""
    if number % 100 in (11, 12, 13):
        return f"{number}th"
    return f"{number}{({1: 'st', 2: 'nd', 3: 'rd'}).get(number % 10, 'th')}"


def ascii_digits(text: str) -> str:
    """The text with Arabic-Indic, extended Arabic-Indic and fullwidth digits as ASCII digits."""
    return text.translate(_TO_ASCII)


def arabic_indic(number: int) -> str:
    """A number in Arabic-Indic digits (U+0660 to U+0669), not padded."""
    return str(number).translate(_TO_ARABIC_INDIC)


def chinese_digits(number: int) -> str:
    """A number digit by digit, as years are written: 2023 is 二零二三."""
    return str(number).translate(_TO_CHINESE)


def chinese_number(text: str) -> int | None:
    """The value of a Chinese numeral below 100 or written digit by digit; None if it is none.

    Reads 五, 十五, 二十, 二十五, 廿五, 卅, 三十一, 初五 and 二零二三 (also 二〇二三).
    """
    text = text.removeprefix("初")
    for short, long in (("廿", "二十"), ("卄", "二十"), ("卅", "三十")):
        text = text.replace(short, long)
    digits = text.translate(_CHINESE_TO_ASCII)
    if digits.isascii() and digits.isdecimal() and not text.isascii():
        return int(digits)
    tens, separator, units = digits.partition("十")
    if not separator or text.isascii() or any(len(part) > 1 for part in (tens, units)):
        return None
    if not all(part == "" or (part.isascii() and part.isdecimal()) for part in (tens, units)):
        return None
    if "0" in (tens, units):
        return None
    return 10 * int(tens or "1") + int(units or "0")


def lunar_day(number: int) -> str:
    """The name of a day of the lunar month, 1 to 30: 初一 … 初十, 十一 …, 二十, 廿一 …, 三十."""
    tens, units = divmod(number, 10)
    if units == 0:
        return ("初十", "二十", "三十")[tens - 1]
    return ("初", "十", "廿")[tens] + CHINESE_DIGITS[units]
