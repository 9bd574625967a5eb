"""Pages to records: what becomes a clause, what metadata, and that nothing is lost."""

from __future__ import annotations

import copy
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scripts.documents.pages import Page
from scripts.documents.record_checks import RecordShapeError, validate
from scripts.documents.records import account, build_record, date_difference
from tests.unit.documents_pages import ENTRY, line, page, pages, table

GAZETTE = "বাংলাদেশ গেজেট, অতিরিক্ত, জুন ১১, ২০২০"


def record_of(*contents: Any) -> dict[str, Any]:
    """The record of pages, with nothing lost or added."""
    made = pages(*contents)
    record = build_record(made, ENTRY)
    found = account(made, record)
    assert (found.lost, found.added) == (0, 0)
    return record


def items(record: dict[str, Any], kind: str) -> list[dict[str, Any]]:
    return [item for item in record["parsed_text"] if item["type"] == kind]


def clauses(record: dict[str, Any]) -> list[dict[str, Any]]:
    return items(record, "clause")


def texts(record: dict[str, Any], category: str) -> list[str]:
    return [i["text"] for i in items(record, "metadata") if i["metadata_category"] == category]


# --- clauses -------------------------------------------------------------------------------------


def test_clauses_of_both_numeral_styles() -> None:
    bangla = record_of(["প্রজ্ঞাপন", "১। প্রথম কথা।", "২। দ্বিতীয় কথা।"])
    english = record_of(["NOTIFICATION", "4. Replacement of section 25B.-- For it.", "5. Next."])
    assert [c["text"] for c in clauses(bangla)] == ["১। প্রথম কথা।", "২। দ্বিতীয় কথা।"]
    assert [c["clause_number"] for c in clauses(english)] == ["clause_1", "clause_2"]
    assert clauses(english)[0]["clause_title"] == "Replacement of section 25B"
    assert clauses(english)[1]["clause_title"] == ""


@pytest.mark.parametrize(
    ("text", "title"),
    [
        ("১। সংক্ষিপ্ত শিরোনাম।— (১) এই আইন।", "সংক্ষিপ্ত শিরোনাম"),
        ("১। সংজ্ঞা।―এই আইনে,―", "সংজ্ঞা"),
        ("১। সংজ্ঞা— এই বিধিমালায় বোর্ড।", "সংজ্ঞা"),
        ("১। ধারা ২ এর—", ""),
        ("১। উক্ত আইনের ধারা ৩ এর— (ক) দফা বিলুপ্ত হইবে।", ""),
        ("1. Short title.—This Act.", "Short title"),
        ("1. Short title.- (1) This Act.", "Short title"),
        ("1. The Board may— (a) do so;", ""),
        ("1. In this Act, unless the context,—", ""),
        ("১। নিম্নরূপ সংশোধন করা হইল, যথা:—", ""),
        ("১। ধারা ৩ এর পর “৩ক। নূতন।— (১) কথা” সন্নিবেশিত হইবে।", ""),
    ],
)
def test_title_is_the_heading_phrase_before_the_dash(text: str, title: str) -> None:
    assert clauses(record_of([text]))[0]["clause_title"] == title


def test_title_that_a_line_break_cuts() -> None:
    first = "৩। ২০১১ সনের প্রজ্ঞাপনের দ্বিতীয় অনুচ্ছেদের চতুর্থ দফার"
    record = record_of(["১। ক।", "২। খ।", first, "সংশোধন।— বিলুপ্ত হইবে।"])
    expected = "২০১১ সনের প্রজ্ঞাপনের দ্বিতীয় অনুচ্ছেদের চতুর্থ দফার সংশোধন"
    assert clauses(record)[2]["clause_title"] == expected


def test_numbering_is_global_over_chapters_that_restart() -> None:
    record = record_of(
        ["প্রথম অধ্যায়", "প্রারম্ভিক", "১। এক।", "২। দুই।", "৩। তিন।"],
        ["দ্বিতীয় অধ্যায়", "নিবন্ধন", "১। চার।", "২। পাঁচ।"],
    )
    assert [c["text_id"] for c in clauses(record)] == [f"clause_{n}" for n in range(1, 6)]
    assert clauses(record)[3]["text"] == "১। চার।"
    titles = [i["metadata_title"] for i in items(record, "metadata")]
    assert titles == ["প্রথম অধ্যায় প্রারম্ভিক", "দ্বিতীয় অধ্যায় নিবন্ধন"]


@pytest.mark.parametrize("heading", ["CHAPTER II", "PART B", "প্রথম ভাগ: Baggage", "অধ্যায়-২"])
def test_headings_of_parts(heading: str) -> None:
    record = record_of(["1. One.", "2. Two.", heading, "1. Three."])
    assert len(clauses(record)) == 3
    assert texts(record, "document") == [heading]


def test_heading_words_in_running_text_are_no_headings() -> None:
    record = record_of(
        ["1. As said in", "Chapter II of the Act, nothing.", "2. Part of it is kept."]
    )
    assert len(clauses(record)) == 2
    assert texts(record, "document") == []


def test_clause_runs_on_over_a_page_and_its_furniture() -> None:
    record = record_of(
        ["১। এক কথা।", "২। এই বিধান সকল আমদানিকারকের জন্য প্রযোজ্য হইবে এবং বোর্ড", "১২৩৪৫"],
        [GAZETTE, "লিখিত আদেশ দ্বারা উহা পরিবর্তন করিতে পারিবে।", "৩। তিন।", "১২৩৪৬"],
    )
    second = clauses(record)[1]
    assert (second["page_start"], second["page_end"]) == (1, 2)
    assert second["text"].endswith("এবং বোর্ড লিখিত আদেশ দ্বারা উহা পরিবর্তন করিতে পারিবে।")
    assert texts(record, "page") == ["১২৩৪৫", GAZETTE, "১২৩৪৬"]
    order = [item["text_id"] for item in record["parsed_text"]]
    assert order[:4] == ["clause_1", "clause_2", "metadata_1", "metadata_2"]


def test_hyphen_at_a_line_end_joins_without_a_space() -> None:
    text = "১। এই প্রজ্ঞাপনে ভিন্নরূপ কিছু না থাকিলে উক্ত বিধির উপ-"
    record = record_of([text, "বিধি প্রযোজ্য হইবে।", "২। দুই।"])
    assert "উপ-বিধি প্রযোজ্য" in clauses(record)[0]["text"]


def test_wrapped_reference_is_no_clause() -> None:
    record = record_of(
        [
            "১। উক্ত আইনের বিধান সাপেক্ষে সকল আমদানিকারক এবং রপ্তানিকারক ধারা",
            "২৫। অনুযায়ী আবেদন করিবেন।",
            "২। দুই।",
        ]
    )
    assert len(clauses(record)) == 2


@pytest.mark.parametrize("text", ["4.5 percent", "09.06.2011 date", "৮৪.৪৫ শিরোনাম", "1969. Act"])
def test_decimals_dates_codes_and_years_begin_no_clause(text: str) -> None:
    assert len(clauses(record_of(["1. One.", text]))) == 1


def test_list_inside_a_clause_is_no_clause() -> None:
    other = record_of(["১। এক।", "২। তালিকা:", "1. apple", "2. pear", "3. plum", "৩। তিন।"])
    same = record_of(["১। এক।", "২। তালিকা:", "১। আম;", "২। জাম;", "৩। লিচু।", "৪। কলা।", "৩। তিন।"])
    assert len(clauses(other)) == 3
    assert "3. plum" in clauses(other)[1]["text"]
    assert [c["text"][:6] for c in clauses(same)] == ["১। এক।", "২। তাল", "৩। তিন"]


def test_count_that_begins_anew_without_a_heading() -> None:
    record = record_of(["১। এক।", "২। দুই।", "১। আবার এক।", "২। আবার দুই।"])
    assert len(clauses(record)) == 4


def test_inserted_and_omitted_numbers() -> None:
    record = record_of(["১। এক।", "১ক। এক-ক।", "৫। পাঁচ।", "62[৬। ছয়।]"])
    assert [c["text"] for c in clauses(record)] == ["১। এক।", "১ক। এক-ক।", "৫। পাঁচ।", "62[৬। ছয়।]"]


def test_section_heads() -> None:
    record = record_of(["Article 1", "Scope", "This applies.", "Article 2", "Persons", "All."])
    assert [c["clause_title"] for c in clauses(record)] == ["Scope", "Persons"]
    assert clauses(record)[1]["text"] == "Article 2\nPersons\nAll."


def test_headings_on_lines_of_their_own_belong_to_their_clause() -> None:
    record = record_of(
        [
            "প্রথম অধ্যায়",
            "প্রারম্ভিক",
            "সংক্ষিপ্ত শিরোনাম",
            "১। (১) এই আইন।",
            "সংজ্ঞা",
            "২। এই আইনে—",
            "(ক) “বোর্ড” অর্থ বোর্ড।",
            "প্রাধান্য",
            "৩। এই আইন প্রাধান্য পাইবে।",
        ]
    )
    assert [c["clause_title"] for c in clauses(record)] == [
        "সংক্ষিপ্ত শিরোনাম",
        "সংজ্ঞা",
        "প্রাধান্য",
    ]
    assert clauses(record)[1]["text"].startswith("সংজ্ঞা\n২। এই আইনে—\n(ক)")
    assert clauses(record)[0]["subclause_hierarchy"] == ["১"]


# --- quoted law text -----------------------------------------------------------------------------


def test_quoted_numerals_begin_no_clause_and_no_subclause() -> None:
    record = record_of(
        [
            "১। এক।",
            "২। অনুচ্ছেদ ৩ এর পর নিম্নরূপ সন্নিবেশিত হইবে, যথা:—",
            "“৩। শর্ত।— (ক) প্রথম;",
            "(খ) দ্বিতীয়।",
            "৪। নূতন।”;",
            "৩। (ক) তিন; (খ) চার।",
        ]
    )
    assert len(clauses(record)) == 3
    assert clauses(record)[1]["subclause_hierarchy"] == []
    assert clauses(record)[1]["text"].endswith("৪। নূতন।”;")
    assert clauses(record)[2]["subclause_hierarchy"] == ["ক", "খ"]


def test_quotation_that_crosses_a_page_stays_in_its_clause() -> None:
    record = record_of(
        [
            "1. For section 4 the following is substituted:—",
            "“4. Fee.— (1) The fee is 5.",
            "Page 1",
        ],
        ["5. Period.— It is 6 months.”", "2. It takes effect now.", "Page 2"],
    )
    assert len(clauses(record)) == 2
    assert clauses(record)[0]["page_end"] == 2


def test_quotation_that_is_never_closed_swallows_no_clause() -> None:
    record = record_of(
        [
            "১। এক।",
            "২। “শব্দ এর পরিবর্তে “অন্য” বসিবে।",
            "৩। “তিন” বিলুপ্ত।",
            "৪। চার।",
            "৫। “ক” এর পর খ” বসিবে।",
            "৬। ছয়।",
        ]
    )
    assert len(clauses(record)) == 6


# --- tables --------------------------------------------------------------------------------------


HEAD = ("ক্রমিক", "HS Code", "হার")


def test_table_stands_at_its_exact_place() -> None:
    rows = [HEAD, ("১", "8445.11.00", "৫%")]
    record = record_of(["১। এক।", "২। ছক:", table(*rows), "টীকা: শেষ।", table(*rows), "৩। তিন।"])
    second = clauses(record)[1]
    assert second["text"] == "২। ছক:\n[TABLE_1]\nটীকা: শেষ।\n[TABLE_2]"
    assert second["table_ids"] == ["table_1", "table_2"]
    assert record["tables"][0] == {
        "table_id": "table_1",
        "parent_text_id": "clause_2",
        "page_start": 1,
        "page_end": 1,
        "headers": list(HEAD),
        "rows": [["১", "8445.11.00", "৫%"]],
    }


@pytest.mark.parametrize("repeated", [True, False])
def test_table_across_pages_is_one(repeated: bool) -> None:
    more = [HEAD] if repeated else []
    record = record_of(
        ["১। ছক:", table(HEAD, ("১", "8445.11.00", "৫%")), "পৃষ্ঠা ১"],
        [GAZETTE, table(*more, ("২", "8451.40.00", "")), "পৃষ্ঠা ২"],
        [GAZETTE, table(*more, ("৩", "8477.10.00", "৭.৫%")), "২। দুই।", "পৃষ্ঠা ৩"],
    )
    (found,) = record["tables"]
    assert found["headers"] == list(HEAD)
    assert [row[0] for row in found["rows"]] == ["১", "২", "৩"]
    assert (found["page_start"], found["page_end"]) == (1, 3)
    assert clauses(record)[0]["page_end"] == 3
    assert clauses(record)[0]["text"] == "১। ছক:\n[TABLE_1]"


def test_repeated_header_is_counted() -> None:
    made = pages(["১। ছক:", table(HEAD, ("১", "a", "b"))], [table(HEAD, ("২", "c", "d"))])
    found = account(made, build_record(made, ENTRY))
    dropped = sum(len("".join(cell.split())) for cell in HEAD)
    assert (found.repeated_headers, found.lost, found.added) == (dropped, 0, 0)
    assert found.characters == found.kept + dropped


def test_tables_with_text_between_or_other_columns_stay_apart() -> None:
    two = record_of(["১। ছক:", table(HEAD, ("১", "a", "b"))], ["এবং", table(HEAD, ("২", "c", "d"))])
    wide = record_of(["১। ছক:", table(HEAD, ("১", "a", "b"))], [table(("x", "y"), ("1", "2"))])
    assert len(two["tables"]) == 2
    assert len(wide["tables"]) == 2


def test_row_of_column_numbers_is_repeated_with_the_header() -> None:
    numbers = ("(১)", "(২)", "(৩)")
    record = record_of(
        ["১। ছক:", table(HEAD, numbers, ("১", "a", "b"))], [table(HEAD, numbers, ("২", "c", "d"))]
    )
    assert record["tables"][0]["rows"] == [list(numbers), ["১", "a", "b"], ["২", "c", "d"]]


def test_table_without_a_header_has_none() -> None:
    record = record_of(["১। ছক:", table(("১", "a", "b"), ("২", "c", "d"))])
    assert record["tables"][0]["headers"] == []
    assert len(record["tables"][0]["rows"]) == 2


def test_schedule_table_belongs_to_the_clause_that_introduces_it() -> None:
    record = record_of(
        ["১। এক।", "২। প্রথম তফসিল এর পণ্য অব্যাহতি পাইবে।", "৩। তিন।", "চেয়ারম্যান"],
        ["প্রথম তফসিল", "[অনুচ্ছেদ ২ দ্রষ্টব্য]", table(HEAD, ("১", "a", "b"))],
    )
    assert record["tables"][0]["parent_text_id"] == "clause_2"
    assert clauses(record)[1]["text"].endswith("[TABLE_1]")
    assert items(record, "metadata")[-1]["metadata_title"] == "প্রথম তফসিল [অনুচ্ছেদ ২ দ্রষ্টব্য]"


@pytest.mark.parametrize(
    ("heading", "parent"),
    [
        ("SCHEDULE", "clause_2"),
        ("Second Schedule", "clause_1"),
        ("ANNEX A [See rule 3]", "clause_3"),
    ],
)
def test_schedule_is_introduced_by_name_or_reference(heading: str, parent: str) -> None:
    record = record_of(
        ["1. As in the Second Schedule.", "2. As in the Schedule.", "3. Rates.", heading],
        [table(("Item", "Rate"), ("a", "1"))],
    )
    assert record["tables"][0]["parent_text_id"] == parent


def test_numbered_text_under_a_schedule_counts_on() -> None:
    record = record_of(["১। তফসিল প্রযোজ্য।", "তফসিল", "১। প্রথম শর্ত।", "২। দ্বিতীয় শর্ত।"])
    assert [c["text_id"] for c in clauses(record)] == ["clause_1", "clause_2", "clause_3"]


def test_table_before_any_clause_makes_a_clause_of_its_paragraph() -> None:
    record = record_of(
        ["প্রজ্ঞাপন", "সরকার নিম্নরূপ অব্যাহতি প্রদান করিল, যথা:—", table(HEAD, ("১", "a", "b"))]
    )
    (only,) = clauses(record)
    assert only["text"] == "সরকার নিম্নরূপ অব্যাহতি প্রদান করিল, যথা:—\n[TABLE_1]"
    assert only["clause_title"] == ""


def test_lines_that_double_the_cells_of_a_table_are_left_out_and_counted() -> None:
    made = page(1, "১। ছক:", table(HEAD, ("১", "8445.11.00", "৫%")), "২। দুই।")
    inside = {"text": "১ 8445.11.00 ৫%", "bbox": [41, 55, 300, 65], "size": 10.0, "bold": False}
    other = {"text": "অন্য", "bbox": [41, 55, 300, 65], "size": 10.0, "bold": False}
    made.lines[1:1] = [inside, other]
    record = build_record([made], ENTRY)
    found = account([made], record)
    assert (found.doubled_lines, found.lost, found.added) == (13, 0, 0)
    assert "অন্য" in clauses(record)[0]["text"]


def test_table_without_a_box_stands_before_the_foot_of_the_page() -> None:
    made = page(1, "১। ছক:", "শেষ।", "পৃষ্ঠা ১")
    made.tables.append({"bbox": [], "rows": [["a", "b"], ["1", None]]})
    record = build_record([made], ENTRY)
    assert clauses(record)[0]["text"] == "১। ছক:\nশেষ।\n[TABLE_1]"
    assert record["tables"][0]["rows"] == [["1", ""]]


def test_printed_marker_is_no_marker() -> None:
    record = record_of(["১। এখানে [TABLE_1] লেখা।", table(HEAD, ("১", "a", "b")), "২। [TABLE_7]"])
    assert clauses(record)[0]["text"] == "১। এখানে [ TABLE_1] লেখা।\n[TABLE_1]"
    assert clauses(record)[1]["text"] == "২। [ TABLE_7]"


# --- metadata ------------------------------------------------------------------------------------


def test_front_matter_is_metadata_of_the_document() -> None:
    record = record_of(
        [
            line("Bangladesh Gazette, Extra, June 11, 2020", size=8.0),
            "অর্থ মন্ত্রণালয়",
            "প্রজ্ঞাপন",
            "তারিখ: ২৮ জ্যৈষ্ঠ, ১৪২৭ বঙ্গাব্দ/১১ জুন, ২০২০ খ্রিস্টাব্দ",
            "এস.আর.ও. নং ১-আইন/২০২০।— Customs Act, 1969 এর section 19 এ প্রদত্ত",
            "ক্ষমতাবলে সরকার আদেশ করিল:—",
            "১। এক।",
        ]
    )
    assert texts(record, "page") == ["Bangladesh Gazette, Extra, June 11, 2020"]
    assert texts(record, "document") == [
        "অর্থ মন্ত্রণালয়",
        "প্রজ্ঞাপন",
        "তারিখ: ২৮ জ্যৈষ্ঠ, ১৪২৭ বঙ্গাব্দ/১১ জুন, ২০২০ খ্রিস্টাব্দ",
        "এস.আর.ও. নং ১-আইন/২০২০।— Customs Act, 1969 এর section 19 এ প্রদত্ত ক্ষমতাবলে সরকার আদেশ করিল:—",
    ]
    first = items(record, "metadata")[1]
    assert (first["metadata_title"], first["table_ids"]) == ("অর্থ মন্ত্রণালয়", [])


def test_running_headers_and_page_numbers() -> None:
    record = record_of(
        ["Fictional law 1", "1. One.", "Page 1 of 3"],
        ["2 Fictional law", "2. Two.", "- 2 -"],
        ["Fictional law 3", "3. Three.", "৩/৩"],
    )
    assert len(texts(record, "page")) == 6
    assert len(clauses(record)) == 3


def test_lone_number_of_a_cell_is_no_page_number() -> None:
    record = record_of(["1. One.", "Rate", "25"], ["10", "2. Two."], ["3. Three."])
    assert texts(record, "page") == []


def test_footnotes_are_metadata_of_the_page() -> None:
    record = record_of(
        [
            "১। এক কথা¹ বলা হইল।",
            line("1 Substituted by Act 9 of 2015, section 3, which took effect on", size=7.0),
            line("1 July 2015.", size=7.0),
            line("2 Omitted by Act 4 of 2016.", size=7.0),
            line("12", size=7.0),
        ],
        ["* নোট: পৃষ্ঠার উপরে।", "২। দুই।", "* টীকা: বিলুপ্ত।"],
    )
    notes = texts(record, "page")
    assert notes[0].startswith("1 Substituted by")
    assert "1 July 2015." in " ".join(notes)
    assert notes[-1] == "* টীকা: বিলুপ্ত।"
    assert clauses(record)[0]["text"].startswith("১। এক কথা¹ বলা হইল।")


@pytest.mark.parametrize(
    "block",
    [
        ["রাষ্ট্রপতির আদেশক্রমে", "মোঃ ক খ", "সচিব"],
        ["By order of the President", "A. B. Rahman", "Secretary"],
        ["(মোঃ ক খ)", "চেয়ারম্যান"],
        ["প্রথম সচিব (কাস্টমস নীতি)"],
        ["স্বাক্ষরিত, সদস্য"],
    ],
)
def test_signature_block_is_metadata(block: list[str]) -> None:
    record = record_of(["1. One.", "2. It takes effect now.", *block])
    assert clauses(record)[-1]["text"] == "2. It takes effect now."
    assert "\n".join(texts(record, "document")).split("\n") == block


def test_list_of_copies_after_a_signature_has_no_clauses() -> None:
    record = record_of(
        ["১। এক।", "২। দুই।", "চেয়ারম্যান", "অনুলিপি:", "১। সচিব, অর্থ বিভাগ", "২। সদস্য, বোর্ড"]
    )
    assert len(clauses(record)) == 2
    assert "১। সচিব, অর্থ বিভাগ" in texts(record, "document")[-1]


def test_office_in_the_middle_of_a_text_signs_nothing() -> None:
    record = record_of(["১। কমিটি:", "চেয়ারম্যান", "সদস্য", "২। দুই।"])
    assert clauses(record)[0]["text"] == "১। কমিটি:\nচেয়ারম্যান\nসদস্য"


def test_second_instrument_in_a_file() -> None:
    record = record_of(
        [
            "১। এক।",
            "২। দুই।",
            "By order of the President",
            "Secretary",
            "S.R.O. No. 2 of 2020.— The Government directs:—",
            "১। তিন।",
        ]
    )
    assert len(clauses(record)) == 3
    assert texts(record, "document")[-1].startswith("S.R.O. No. 2")


def test_document_without_numbered_clauses() -> None:
    only_titles = record_of(["NOTIFICATION", "Holiday calendar", "2020"])
    ordered = record_of(["NOTIFICATION", "The Board is pleased to close its office on Friday."])
    assert clauses(only_titles) == []
    assert [c["text"] for c in clauses(ordered)] == [
        "The Board is pleased to close its office on Friday."
    ]


def test_order_whose_first_paragraph_has_no_number() -> None:
    record = record_of(
        [
            "প্রজ্ঞাপন",
            "তারিখ, ২৮ জ্যৈষ্ঠ ১৪২৭ বঙ্গাব্দ/১১ জুন ২০২০ খ্রিস্টাব্দ",
            "এস.আর.ও নং ১৮২-আইন/২০২০/শুল্ক—Customs Act, 1969 (Act No. IV of",
            "1969) এর section 19 এর ক্ষমতাবলে সরকার নিম্নরূপ সংশোধন করিল, যথা:—",
            "উপরি-উক্ত প্রজ্ঞাপনের—",
            "(ক) TABLE এর ক্রমিক নং ৩ বিলুপ্ত হইবে; এবং",
            "(খ) নিম্নরূপ ক্রমিক সংযোজিত হইবে, যথা:—",
            table(HEAD, ("৪", "8445.11.00", "৫%")),
            "( ৫৬৭৮ )",
            "মূল্য : টাকা ৪.০০",
        ],
        ["৫৬৭৯", GAZETTE, "২। ইহা ১ জুলাই, ২০২০ তারিখে কার্যকর হইবে।", "রাষ্ট্রপতির আদেশক্রমে", "সচিব।"],
    )
    first, second = clauses(record)
    assert first["text"].startswith(
        "এস.আর.ও নং ১৮২-আইন/২০২০/শুল্ক—Customs Act, 1969 (Act No. IV of 1969)"
    )
    assert first["text"].endswith("(খ) নিম্নরূপ ক্রমিক সংযোজিত হইবে, যথা:—\n[TABLE_1]")
    assert first["subclause_hierarchy"] == ["ক", "খ"]
    assert second["text"] == "২। ইহা ১ জুলাই, ২০২০ তারিখে কার্যকর হইবে।"
    assert texts(record, "document")[-1] == "রাষ্ট্রপতির আদেশক্রমে\nসচিব।"
    assert texts(record, "page")[:2] == ["( ৫৬৭৮ )", "মূল্য : টাকা ৪.০০"]


def test_recital_before_a_first_clause_stays_metadata() -> None:
    record = record_of(["The Board is pleased to direct as follows:—", "1. One.", "2. Two."])
    assert len(clauses(record)) == 2
    assert texts(record, "document") == ["The Board is pleased to direct as follows:—"]


def test_letter_with_a_web_address_at_its_head() -> None:
    record = record_of(
        ["website: www.example.org", "Circular No. 2", "Banks are required to report."]
    )
    assert [c["text"] for c in clauses(record)] == ["Banks are required to report."]


def test_empty_and_failed_documents() -> None:
    blank = page(1, status="empty")
    scan = page(1, "Avgvi †mvbvi evsjv", status="needs_ocr")
    for made, total in (([], 0), ([blank], 1), ([scan], 1)):
        record = build_record(made, ENTRY)
        assert record["parsed_text"] == []
        assert record["document_info"]["total_pages"] == total
        assert record["document_info"]["summary"] == {
            "total_metadata": 0,
            "total_clauses": 0,
            "total_tables": 0,
        }
        assert account(made, record).characters == 0


def test_pages_read_from_pictures_have_no_places() -> None:
    texts_ = ["১। এই বিধান সকল আমদানিকারকের জন্য প্রযোজ্য হইবে এবং বোর্ড", "লিখিত আদেশ দিবে।", "২। দুই।"]
    printed, read = page(1, *texts_), page(2, *texts_, status="vision")
    for entry in read.lines:
        entry["bbox"] = [0.0, entry["bbox"][1], 600.0, entry["bbox"][3]]
    for made in ([printed], [read], [printed, read]):
        found = clauses(build_record(made, ENTRY))
        assert {c["text"] for c in found} == {f"{texts_[0]} {texts_[1]}", texts_[2]}


def test_wide_page_among_narrow_ones() -> None:
    long = "১। এই বিধান সকল আমদানিকারকের জন্য প্রযোজ্য হইবে এবং বোর্ড"
    wide = page(2, "২। দুই।")
    wide.lines[0]["bbox"][2] = 900.0
    narrow = page(1, *["প্রজ্ঞাপন"] * 8, long, "লিখিত আদেশ দিবে।")
    assert clauses(build_record([narrow, wide], ENTRY))[0]["text"] == f"{long} লিখিত আদেশ দিবে।"


def test_unread_page_between_read_ones() -> None:
    made = [page(1, "1. One."), page(2, "x", status="needs_ocr"), page(3, "2. Two.")]
    record = build_record(made, ENTRY)
    assert [c["page_start"] for c in clauses(record)] == [1, 3]
    assert record["document_info"]["total_pages"] == 3


# --- document date -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("front", "day"),
    [
        (["তারিখ: ১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ/০২ জুন, ২০১৬ খ্রিস্টাব্দ"], "2016-06-02"),
        (["Notification of 1 May 2015", "Dated 3 June 2016"], "2016-06-03"),
        (["Order of 1 May 2015"], "2015-05-01"),
        (["তারিখ: ১৯ জ্যৈষ্ঠ, ১৪২৩ বঙ্গাব্দ"], "2016-06-02"),
        ([GAZETTE, "প্রজ্ঞাপন"], "2020-06-11"),
        (["Finance Act, 2016"], ""),
    ],
)
def test_document_date_is_read_from_page_one(front: list[str], day: str) -> None:
    record = record_of([*front, "1. It takes effect on 9 September 2019."])
    assert record["document_info"]["document_date"] == day


def test_date_on_a_later_page_is_not_the_documents() -> None:
    record = record_of(["প্রজ্ঞাপন"], ["Dated 3 June 2016", "1. One."])
    assert record["document_info"]["document_date"] == ""


def test_difference_from_the_manifest_is_reported() -> None:
    record = record_of(["Dated 3 June 2016", "1. One."])
    assert "2016-06-03" in date_difference(record, ENTRY)
    assert "nowhere" in date_difference(record_of(["1. One."]), ENTRY)
    assert date_difference(record, {"date": "2016-06-03"}) == ""
    assert date_difference(record, {"date": ""}) == ""


# --- validation ----------------------------------------------------------------------------------


def _valid() -> dict[str, Any]:
    return record_of(["প্রজ্ঞাপন", "১। ছক:", table(HEAD, ("১", "a", "b")), "২। (ক) দুই।"])


def _change(record: dict[str, Any], path: tuple[Any, ...], value: Any) -> dict[str, Any]:
    changed = copy.deepcopy(record)
    target = changed
    for part in path[:-1]:
        target = target[part]
    target[path[-1]] = value
    return changed


@pytest.mark.parametrize(
    ("path", "value", "said"),
    [
        (("parsed_text", 1, "type"), "clauses", "parsed_text clause_1"),
        (("parsed_text", 0, "metadata_category"), "title", "metadata_1"),
        (("parsed_text", 0, "table_ids"), ["table_1"], "metadata_1"),
        (("parsed_text", 2, "clause_number"), "3", "clause_2"),
        (("parsed_text", 2, "text_id"), "clause_1", "expected clause_2"),
        (("parsed_text", 2, "page_start"), 9, "ends on a page before"),
        (("parsed_text", 2, "subclause_hierarchy"), ["ক", []], "clause_2"),
        (("parsed_text", 1, "text"), "১। ছক:", "markers"),
        (("parsed_text", 1, "text"), "১। [TABLE_1] [TABLE_1]", "markers"),
        (("tables", 0, "parent_text_id"), "clause_2", "does not name it"),
        (("tables", 0, "table_id"), "table_2", "expected table_1"),
        (("tables", 0, "rows"), [{"a": "b"}], "tables table_1"),
        (("tables",), [], "summary"),
        (("document_info", "extraction_timestamp"), "now", "extraction_timestamp"),
        (("document_info", "document_type"), "Law", "document_type"),
        (("document_info", "document_date"), "2016", "document_date"),
        (("document_info", "summary", "total_clauses"), 7, "summary"),
    ],
)
def test_invalid_records_name_document_and_item(
    path: tuple[Any, ...], value: Any, said: str
) -> None:
    with pytest.raises(RecordShapeError, match=r"sro-1-2020\.pdf") as error:
        validate(_change(_valid(), path, value))
    assert said in str(error.value)


def test_two_tables_named_for_one() -> None:
    record = _valid()
    record["parsed_text"][1]["table_ids"] = ["table_1", "table_9"]
    record["parsed_text"][1]["text"] += "\n[TABLE_2]"
    with pytest.raises(RecordShapeError, match="2 are named"):
        validate(record)


def test_same_pages_give_the_same_record() -> None:
    made = pages(["প্রজ্ঞাপন", "১। ছক:", table(HEAD, ("১", "a", "b"))])
    assert build_record(made, ENTRY) == build_record(copy.deepcopy(made), ENTRY)


# --- properties ----------------------------------------------------------------------------------

PIECES = st.sampled_from(
    [
        "প্রথম অধ্যায়", "তফসিল", "CHAPTER I", "১। ক।", "২। খ", "৩ক। গ।— (ক) ঘ", "1. One",
        "2. Two.— (a)",
        "ধারা ৫।", "Article 2", "(ক) দফা;", "(i) item", "“৪। উদ্ধৃত", "৫।”", '"quoted', "১২", "পৃষ্ঠা ৩",
        "বাংলাদেশ গেজেট, ২০২০", "* টীকা", "সচিব", "By order of the President", "অনুলিপি", "[TABLE_1]",
        "S.R.O. No. 3", "তারিখ: ১ জুন, ২০২০ খ্রিস্টাব্দ", "  ", "শব্দ, আরও শব্দ এবং অনেক শব্দ এখানে আছে বোর্ড",
    ]
)  # fmt: skip
LINES = st.one_of(PIECES, st.text(max_size=30), st.builds(lambda a, b: f"{a} {b}", PIECES, PIECES))
CELLS = st.one_of(st.text(max_size=8), st.sampled_from(["১", "(১)", "HS Code", "[TABLE_2]", ""]))
TABLES = st.integers(1, 3).flatmap(
    lambda n: st.lists(st.lists(CELLS, min_size=n, max_size=n), min_size=1, max_size=4).map(
        lambda rows: table(*rows)
    )
)
STYLED = st.builds(
    lambda t, s, b: line(t, size=s, bold=b), LINES, st.sampled_from([7.0, 10.0]), st.booleans()
)
CONTENT = st.lists(st.one_of(LINES, LINES, STYLED, TABLES), max_size=12)
STATUS = st.sampled_from(["text", "text", "repaired", "vision", "needs_ocr", "empty", "failed"])


def _signs(made: list[Page]) -> int:
    """Characters of usable pages, counted without the code under test."""
    total = 0
    for each in made:
        if each.status in {"text", "repaired", "vision"}:
            total += sum(not c.isspace() for entry in each.lines for c in entry["text"])
            rows = [row for entry in each.tables for row in entry["rows"]]
            total += sum(not c.isspace() for row in rows for cell in row for c in cell)
    return total


@given(st.lists(st.tuples(CONTENT, STATUS), max_size=4))
def test_nothing_is_lost_and_numbers_run_from_one(content: list[tuple[list[Any], str]]) -> None:
    made = [page(n, *lines, status=status) for n, (lines, status) in enumerate(content, start=1)]
    record = build_record(made, ENTRY)
    found = account(made, record)
    assert (found.lost, found.added) == (0, 0)
    assert found.characters == _signs(made)
    assert found.kept == found.characters - found.repeated_headers - found.doubled_lines
    ids = [item["text_id"] for item in record["parsed_text"]]
    assert len(set(ids)) == len(ids)
    numbers = [int(item["clause_number"][7:]) for item in clauses(record)]
    assert numbers == list(range(1, len(numbers) + 1))
    starts = [item["page_start"] for item in record["parsed_text"]]
    assert starts == sorted(starts)
    assert build_record(made, ENTRY) == record


@given(st.lists(st.sampled_from(["ক খ গ", "Act 1969", "(ক) দফা"]), min_size=1, max_size=8))
def test_every_numbered_paragraph_becomes_one_clause(bodies: list[str]) -> None:
    digits = str.maketrans("0123456789", "০১২৩৪৫৬৭৮৯")
    numbered = [f"{str(n).translate(digits)}। {body}।" for n, body in enumerate(bodies, start=1)]
    assert [c["text"] for c in clauses(record_of(numbered))] == numbered
