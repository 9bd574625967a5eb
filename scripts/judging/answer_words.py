"""How answers are worded in each language: relations, yes and no, units of time, refusals.

One table for the prompt that offers the words and for the judge that reads them. The first form of
an entry is the one a prompt offers; the others are what a person may write instead. Hausa and
Arabic wording was not checked by a native speaker.

Compare folded forms (`scripts.dates.languages.fold`): case, accents, vowel marks, apostrophes and
the hooks of Hausa letters do not count.
"""

from __future__ import annotations

from collections.abc import Mapping

LANGUAGES = ("ar", "zh", "en", "de", "ha")
RELATIONS = ("before", "after", "simultaneous", "during")
UNITS = ("hours", "days", "weeks", "months", "years")

_Forms = tuple[str, ...]
_Table = Mapping[str, Mapping[str, _Forms]]

#: language -> relation -> (form that a prompt offers, further forms).
RELATION_WORDS: _Table = {
    "en": {
        "before": ("before", "earlier", "prior to", "prior", "precedes", "preceding", "preceded"),
        "after": ("after", "later", "subsequent to", "subsequent", "follows", "afterwards"),
        "simultaneous": (
            "simultaneous", "simultaneously", "at the same time", "same time", "same day",
            "same date", "concurrent", "concurrently", "coincides", "equal",
        ),
        "during": (
            "during", "is included", "is_included", "included", "within", "while",
            "in the course of",
        ),
    },
    "de": {
        "before": ("davor", "vor", "vorher", "zuvor", "früher", "bevor", "vorhergehend"),
        "after": ("danach", "nach", "nachher", "später", "nachdem", "hinterher"),
        "simultaneous": (
            "gleichzeitig", "zeitgleich", "simultan", "zur gleichen Zeit", "zur selben Zeit",
            "zum gleichen Zeitpunkt", "zum selben Zeitpunkt", "am selben Tag", "am gleichen Tag",
        ),
        "during": (
            "während", "währenddessen", "innerhalb", "enthalten", "eingeschlossen", "im Zeitraum",
            "im Laufe",
        ),
    },
    "zh": {
        "before": ("之前", "以前", "早于", "早於", "先于", "先於", "在前", "前"),
        "after": (
            "之后", "之後", "以后", "以後", "晚于", "晚於", "后于", "後於", "在后", "后", "後",
        ),
        "simultaneous": (
            "同时", "同時", "同一时间", "同一時間", "同一天", "同一日", "同日", "同步",
        ),
        "during": (
            "期间", "期間", "其间", "其間", "在内", "在內", "之内", "之內", "之中", "包含", "包括",
        ),
    },
    "ar": {
        "before": ("قبل", "قبله", "قبلها", "قبل ذلك", "سابق", "سابقا", "يسبق", "أسبق"),
        "after": ("بعد", "بعده", "بعدها", "بعد ذلك", "لاحق", "لاحقا", "يلي", "تالي"),
        "simultaneous": (
            "متزامن", "متزامنة", "متزامنان", "بالتزامن", "تزامن", "في نفس الوقت",
            "في الوقت نفسه", "في نفس اليوم", "في اليوم نفسه", "نفس الوقت", "نفس اليوم",
        ),
        "during": ("أثناء", "خلال", "في أثناء", "ضمن", "مشمول", "متضمن", "داخل"),
    },
    "ha": {
        "before": ("kafin", "kafin haka", "kafin nan", "kamin", "gabanin", "tun kafin"),
        "after": ("bayan", "bayan haka", "bayan nan", "daga baya", "daga bisani"),
        "simultaneous": (
            "lokaci guda", "a lokaci guda", "lokaci ɗaya", "a lokaci ɗaya", "rana ɗaya",
            "rana guda", "a rana guda",
        ),
        "during": ("yayin", "a yayin", "a lokacin", "lokacin", "a cikin", "cikin"),
    },
}  # fmt: skip

#: language -> "yes" or "no" -> (form that a prompt offers, further forms).
YES_NO_WORDS: _Table = {
    "en": {"yes": ("yes", "yeah", "yep", "true", "correct"), "no": ("no", "nope", "false")},
    "de": {
        "yes": ("ja", "jawohl", "wahr", "richtig", "stimmt"),
        "no": ("nein", "falsch", "unwahr"),
    },
    "zh": {
        "yes": ("是", "是的", "对", "對", "对的", "正确", "正確", "没错"),
        "no": ("否", "不", "不是", "不对", "不對", "错", "錯", "错误", "没有"),
    },
    "ar": {
        "yes": ("نعم", "أجل", "بلى", "صحيح"),
        "no": ("لا", "كلا", "خطأ", "غير صحيح"),
    },
    "ha": {"yes": ("eh", "ee", "i", "na'am", "gaskiya"), "no": ("a'a", "aa", "ba haka ba")},
}

#: language -> unit -> (form after a number, further forms).
UNIT_WORDS: _Table = {
    "en": {
        "hours": ("hours", "hour", "hrs", "hr"),
        "days": ("days", "day"),
        "weeks": ("weeks", "week", "wks"),
        "months": ("months", "month"),
        "years": ("years", "year", "yrs", "yr"),
    },
    "de": {
        "hours": ("Stunden", "Stunde", "Std"),
        "days": ("Tage", "Tag", "Tagen"),
        "weeks": ("Wochen", "Woche"),
        "months": ("Monate", "Monat", "Monaten"),
        "years": ("Jahre", "Jahr", "Jahren"),
    },
    "zh": {
        "hours": ("小时", "小時", "个小时", "個小時", "钟头"),
        "days": ("天", "日"),
        "weeks": ("周", "週", "个星期", "個星期", "星期", "个礼拜", "礼拜"),
        "months": ("个月", "個月", "月"),
        "years": ("年",),
    },
    "ar": {
        "hours": ("ساعات", "ساعة", "ساعه", "ساعتان", "ساعتين"),
        "days": ("أيام", "يوم", "يوما", "يومان", "يومين"),
        "weeks": ("أسابيع", "أسبوع", "أسبوعا", "أسبوعان", "أسبوعين"),
        "months": ("أشهر", "شهر", "شهرا", "شهور", "شهران", "شهرين"),
        "years": (
            "سنوات", "سنة", "سنه", "سنين", "سنتان", "سنتين", "عام", "عاما", "أعوام",
            "عامان", "عامين",
        ),
    },
    "ha": {
        "hours": ("awanni", "awa", "sa'o'i", "sa'a", "awoyi"),
        "days": ("kwanaki", "kwana", "ranaku", "rana"),
        "weeks": ("makonni", "mako", "sati", "satuttuka"),
        "months": ("watanni", "wata"),
        "years": ("shekaru", "shekara"),
    },
}  # fmt: skip

#: language -> what a reply says that gives no answer.
REFUSAL_PHRASES: Mapping[str, _Forms] = {
    "en": (
        "I don't know", "I do not know", "I'm not sure", "I am not sure", "don't know", "unknown",
        "cannot answer", "can't answer", "unable to answer", "cannot determine", "can't determine",
        "cannot be determined", "unable to determine", "cannot provide", "can't provide",
        "unable to provide", "not enough information", "insufficient information", "no answer",
        "I cannot", "I can't", "I'm unable", "I am unable", "I'm sorry", "as an AI", "N/A",
        "not possible to determine", "impossible to determine", "impossible to say",
    ),
    "de": (
        "ich weiß es nicht", "ich weiß nicht", "weiß ich nicht", "keine Ahnung", "unbekannt",
        "kann ich nicht", "kann nicht beantwortet werden", "nicht beantworten", "nicht bestimmen",
        "nicht ermitteln", "nicht feststellen", "nicht sicher", "keine Antwort",
        "nicht genügend Informationen", "zu wenig Informationen", "lässt sich nicht",
        "tut mir leid",
    ),
    "zh": (
        "我不知道", "不知道", "无法确定", "無法確定", "无法回答", "無法回答", "无法得知",
        "无法判断", "不清楚", "不确定", "不確定", "未知", "没有足够的信息", "信息不足",
        "抱歉", "对不起",
    ),
    "ar": (
        "لا أعرف", "لا أعلم", "لا أدري", "غير معروف", "لا يمكنني", "لا أستطيع", "لا يمكن تحديد",
        "لست متأكدا", "معلومات غير كافية", "لا توجد معلومات كافية", "عذرا", "آسف",
    ),
    "ha": (
        "ban sani ba", "ban san ba", "ba na sani ba", "bansani ba", "ba zan iya", "ba zan iya ba",
        "ba a sani ba", "ban tabbata ba", "babu isasshen bayani", "yi hakuri", "ku yi hakuri",
    ),
}  # fmt: skip


def _forms(table: _Table, language: str, name: str, what: str) -> _Forms:
    try:
        of_language = table[language]
    except KeyError:
        raise ValueError(f"language {language!r} is none of {', '.join(LANGUAGES)}") from None
    try:
        return of_language[name]
    except KeyError:
        raise ValueError(f"{what} {name!r} is none of {', '.join(of_language)}") from None


def relation_word(language: str, relation: str) -> str:
    """The word that a prompt offers for a relation (`before`, `after`, `simultaneous`, `during`).

    Raises ValueError for an unknown language or relation.
    """
    return _forms(RELATION_WORDS, language, relation, "relation")[0]


def relation_words(language: str, relation: str) -> tuple[str, ...]:
    """Every form of a relation in a language, the prompt's own first."""
    return _forms(RELATION_WORDS, language, relation, "relation")


def yes_no_word(language: str, value: str) -> str:
    """The word that a prompt offers for `yes` or `no`."""
    return _forms(YES_NO_WORDS, language, value, "value")[0]


def yes_no_words(language: str, value: str) -> tuple[str, ...]:
    """Every form of `yes` or `no` in a language, the prompt's own first."""
    return _forms(YES_NO_WORDS, language, value, "value")


def unit_word(language: str, unit: str) -> str:
    """The name of a unit of time (plural of `UNITS`) as it follows a number above ten."""
    return _forms(UNIT_WORDS, language, unit, "unit")[0]


def unit_words(language: str, unit: str) -> tuple[str, ...]:
    """Every form of a unit of time in a language."""
    return _forms(UNIT_WORDS, language, unit, "unit")


def refusal_phrases(language: str) -> tuple[str, ...]:
    """What a reply says that gives no answer, in a language."""
    if language not in REFUSAL_PHRASES:
        raise ValueError(f"language {language!r} is none of {', '.join(LANGUAGES)}")
    return REFUSAL_PHRASES[language]
