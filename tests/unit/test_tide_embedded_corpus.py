"""The shipped fictional instruments: their PDFs, their truth, and what was established on them."""

import csv
import datetime
import re
import shutil
import subprocess
import unicodedata
from collections import Counter
from dataclasses import replace
from itertools import pairwise

import pymupdf
import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from scripts.dates.legal_dates import calendar_pairs, mentions
from scripts.files import DataError, iterate_jsonl, read_json, read_records, sha256_file
from scripts.tide.construction.pair_checks import first_failure
from scripts.tide.construction.provisions import Corpus
from scripts.tide.construction.threads import check_thread
from scripts.tide.documents import embedded_corpus as corpus
from scripts.tide.rows import Element, EntityRow, QuestionPair, Thread
from scripts.tide.tasks import TASKS
from tests.conftest import ROOT

FOLDER = ROOT / "data/embedded/tide"
INSTRUMENTS = corpus.read_instruments(FOLDER / "instruments.yaml")
BY_NAME = {each.document: each for each in INSTRUMENTS}
TRUTH = {each.document: corpus.truth_of(each) for each in INSTRUMENTS}
QUESTIONS = read_records(FOLDER / "questions.jsonl", QuestionPair)
THREADS = {thread.thread_id: thread for thread in read_records(FOLDER / "threads.jsonl", Thread)}
NAMES = sorted(BY_NAME)
DIGITS = str.maketrans("০১২৩৪৫৬৭৮৯", "0123456789")


def clause_texts():
    """Text of every clause with its tables, and whether all its pages can be read."""
    texts, readable = {}, {}
    for name, truth in TRUTH.items():
        for clause in truth["clauses"]:
            tables = [t for t in truth["tables"] if t["parent"] == clause["clause_number"]]
            text = clause["text"]
            for number, table in enumerate(tables, start=1):
                grid = "\n".join(" | ".join(row) for row in [table["headers"], *table["rows"]])
                text = text.replace(f"[TABLE_{number}]", grid)
            element_id = f"{name}/{clause['clause_number']}"
            texts[element_id] = text
            pages = range(clause["page_start"], clause["page_end"] + 1)
            readable[element_id] = all(
                BY_NAME[name].layer_of(page) in corpus.READABLE for page in pages
            )
    return texts, readable


TEXTS, IS_READABLE = clause_texts()


def squeezed(text):
    return re.sub(r"\s+", "", unicodedata.normalize("NFC", text))


# ------------------------------------------------------------------------------ the shipped files


def test_truth_and_rows_follow_from_the_yaml_files(tmp_path):
    for name in ("instruments.yaml", "verified.yaml"):
        shutil.copy(FOLDER / name, tmp_path)
    corpus.main(["--folder", str(tmp_path), "--rows-only"])
    made = sorted(p.relative_to(tmp_path) for p in tmp_path.rglob("*.json*"))
    assert len(made) == len(INSTRUMENTS) + 4
    for path in made:
        assert (tmp_path / path).read_bytes() == (FOLDER / path).read_bytes(), path
    assert not list(tmp_path.glob("*.pdf"))


def test_manifest_lists_every_pdf_with_its_checksum():
    with (FOLDER / "manifest.csv").open(encoding="utf-8", newline="") as handle:
        rows = list(csv.DictReader(handle))
    assert [row["file"] for row in rows] == [f"{each.document}.pdf" for each in INSTRUMENTS]
    assert {path.name for path in FOLDER.glob("*.pdf")} == {row["file"] for row in rows}
    for row, each in zip(rows, INSTRUMENTS, strict=True):
        assert row["sha256"] == sha256_file(FOLDER / row["file"])
        assert (row["type"], row["date"]) == (each.type, each.date.isoformat())
        assert row["licence"] == "CC0-1.0"
        assert row["title"]
    assert sum(path.stat().st_size for path in FOLDER.rglob("*") if path.is_file()) < 2_500_000


def test_the_corpus_has_the_promised_variety():
    types = Counter(each.type for each in INSTRUMENTS)
    assert len(INSTRUMENTS) == 14
    assert types == {"Act": 1, "Rule": 1, "GO": 3, "SRO": 9}
    layers = Counter(each.layer for each in INSTRUMENTS)
    assert layers == {"actualtext": 5, "visual": 4, "plain": 3, "legacy": 1, "mojibake": 1}
    assert [each.document for each in INSTRUMENTS if "image" in each.layers.values()] == [
        "sro-125-2023"
    ]
    years = {each.date.year for each in INSTRUMENTS}
    assert (min(years), max(years)) == (2010, 2025)
    numbers = Counter(re.sub(r"/\d{4}$", "", each.instrument) for each in INSTRUMENTS)
    assert numbers["S.R.O. No. 101-AIN"] == 3  # numbers restart every year


@pytest.mark.parametrize("name", NAMES)
def test_documents_are_short_marked_and_normalised(name):
    truth = TRUTH[name]
    for page in truth["pages"]:
        assert page["text"].startswith("FICTIONAL / কাল্পনিক")
        assert unicodedata.is_normalized("NFC", page["text"])
    assert 1 <= len(truth["pages"]) <= 3
    assert sum(len(page["text"]) for page in truth["pages"]) <= 1800
    assert all(len(clause["text"]) <= 350 for clause in truth["clauses"])
    numbers = [clause["clause_number"] for clause in truth["clauses"]]
    assert numbers == [f"clause_{n}" for n in range(1, len(numbers) + 1)]


def test_texts_hold_what_a_parser_must_cope_with():
    tables = [table for truth in TRUTH.values() for table in truth["tables"]]
    assert [table["page_end"] - table["page_start"] for table in tables].count(1) == 1
    crossing = next(table for table in tables if table["page_end"] > table["page_start"])
    second = TRUTH["sro-110-2011"]["pages"][1]["text"]
    assert " ".join(crossing["headers"]) in second and len(crossing["rows"]) == 7
    assert any(
        clause["page_end"] > clause["page_start"] and "[TABLE_1]" not in clause["text"]
        for clause in TRUTH["rules-145-2012"]["clauses"]
    )
    restarted = [clause["printed"] for clause in TRUTH["sro-145-2021"]["clauses"]]
    assert restarted == ["১।", "২।", "৩।", "১।", "২।"]
    hierarchies = {
        f"{name}/{clause['clause_number']}": clause["subclause_hierarchy"]
        for name, truth in TRUTH.items()
        for clause in truth["clauses"]
    }
    assert hierarchies["act-4-2010/clause_4"] == ["ক", "খ", ["i", "ii"]]
    assert hierarchies["sro-101-2017/clause_4"] == ["a", ["i", "ii"], "b"]
    assert hierarchies["sro-101-2014/clause_3"] == []  # (a) (b) stand inside quoted law
    everything = "\n".join(page["text"] for truth in TRUTH.values() for page in truth["pages"])
    for word in ("সন্নিবেশিত", "প্রতিস্থাপিত", "বিলুপ্ত", "রহিত", "substituted", "omitted"):
        assert word in everything
    assert re.search(r"\d{4}\.\d\d\.\d\d", everything) and "section 6" in everything


# ------------------------------------------------------------------------------------- calendars


def independent_gregorian(year, month, day):
    """Bangla to Gregorian from the lengths of months as the gazette prints them."""
    leap = (year + 594) % 4 == 0
    if year >= 1426:
        lengths = [31] * 6 + [30] * 4 + [30 if leap else 29, 30]
    else:
        lengths = [31] * 5 + [30] * 5 + [31 if leap else 30, 30]
    assert 1 <= day <= lengths[month - 1]
    passed = sum(lengths[: month - 1]) + day - 1
    return datetime.date(year + 593, 4, 14) + datetime.timedelta(passed)


def test_both_calendars_agree_but_for_the_one_marked_pair():
    wrong, seams = [], set()
    for each in INSTRUMENTS:
        for pair in each.calendars:
            named = independent_gregorian(*map(int, pair["bangla_value"].split("-")))
            printed = "\n".join(page["text"] for page in TRUTH[each.document]["pages"])
            assert pair["bangla"] in printed and pair["gregorian"] in printed
            assert (named != pair["value"]) == pair.get("disagrees", False), each.document
            seams.add(named < datetime.date(2019, 10, 1))
            wrong += [each.document] * (named != pair["value"])
    assert wrong == ["sro-145-2021"]
    assert seams == {True, False}


def test_the_corpus_check_finds_the_marked_pair():
    found = {
        name
        for name, truth in TRUTH.items()
        for page in truth["pages"]
        for pair in calendar_pairs(page["text"])
        if not pair.agrees
    }
    marked = {name for name, truth in TRUTH.items() for d in truth["dates"] if d["disagrees"]}
    assert found == marked == {"sro-145-2021"}


@pytest.mark.parametrize("name", NAMES)
def test_two_readers_find_the_same_dates(name):
    truth = TRUTH[name]
    for page in truth["pages"]:
        here = [(d["value"], d["calendar"]) for d in truth["dates"] if d["page"] == page["page"]]
        read = [(m.value, m.calendar) for m in mentions(page["text"])]
        assert here == read
    assert BY_NAME[name].date.isoformat() in {date["value"] for date in truth["dates"]}


# ------------------------------------------------------------------------------------ text layers


def layer_pages(*layers):
    return [
        (name, page["page"])
        for name, truth in TRUTH.items()
        for page in truth["pages"]
        if page["layer"] in layers
    ]


def pdftotext(name, page):
    if not shutil.which("pdftotext"):
        pytest.skip("pdftotext is not installed")
    command = ["pdftotext", "-layout", "-f", str(page), "-l", str(page), f"{name}.pdf", "-"]
    return subprocess.run(command, cwd=FOLDER, capture_output=True, check=True).stdout.decode()


@pytest.mark.parametrize(("name", "page"), layer_pages("actualtext"))
def test_actual_text_comes_out_as_it_was_written(name, page):
    truth = TRUTH[name]["pages"][page - 1]["text"]
    assert Counter(squeezed(pdftotext(name, page))) == Counter(squeezed(truth))
    words = set(pdftotext(name, page).split())
    assert {word for word in truth.split() if word not in words} == set()


@pytest.mark.parametrize(("name", "page"), layer_pages("visual"))
def test_visual_order_puts_vowel_signs_before_their_letters(name, page):
    shown = pdftotext(name, page)
    assert squeezed(shown) != squeezed(TRUTH[name]["pages"][page - 1]["text"])
    assert re.search(r"(?:^|\s)[িেৈ]", shown)


@pytest.mark.parametrize(("name", "page"), layer_pages("plain"))
def test_plain_pages_are_mostly_english(name, page):
    truth = TRUTH[name]["pages"][page - 1]["text"]
    assert sum(sign.isascii() for sign in truth) > 0.75 * len(truth)
    shown = pdftotext(name, page)
    latin = [word for word in truth.split() if re.fullmatch(r"[A-Za-z0-9.,/-]+", word)]
    assert [word for word in latin if word not in shown] == []


def test_the_odd_layers_are_what_they_claim():
    with pymupdf.open(FOLDER / "sro-160-2013.pdf") as pdf:
        assert [font[3] for font in pdf[0].get_fonts()] == ["AAAAAA+SutonnyMJ"]
        text = pdf[0].get_text()
        assert "cÖÁvcb" in text and not re.search(r"[\u0980-\u09ff]", text)
    with pymupdf.open(FOLDER / "go-1-2014.pdf") as pdf:
        text = pdf[0].get_text()
        assert "General Order No. 1/2014" in text and re.search(r"[\u0180-\u02af]", text)
        assert "ফাল্গুন" not in text
    with pymupdf.open(FOLDER / "sro-125-2023.pdf") as pdf:
        assert pdf[0].get_text() and not pdf[1].get_text() and len(pdf[1].get_images()) == 1
        pixels = pdf[1].get_pixmap(colorspace=pymupdf.csGRAY)
        assert min(pixels.samples) < 64  # something is printed on the scan


@pytest.mark.parametrize("name", NAMES)
def test_pdfs_have_the_pages_of_the_truth_and_no_traces(name):
    with pymupdf.open(FOLDER / f"{name}.pdf") as pdf:
        assert len(pdf) == len(TRUTH[name]["pages"])
        assert not pdf.metadata.get("author")
        stamp = pdf.metadata.get("creationDate")
    assert not stamp or stamp.startswith(f"D:{BY_NAME[name].date:%Y%m%d}")


@pytest.mark.tex
@pytest.mark.parametrize("name", ["sro-101-2011", "sro-125-2023", "sro-160-2013"])
def test_typesetting_twice_gives_the_same_bytes(name):
    first = corpus.typeset(BY_NAME[name])
    assert first == corpus.typeset(BY_NAME[name])
    with pymupdf.open(stream=first, filetype="pdf") as pdf:
        assert len(pdf) == len(BY_NAME[name].pages)


def test_html_box_gives_the_same_bytes(tmp_path):
    if not corpus.BENGALI_FONT.exists():
        pytest.skip("no Noto Serif Bengali here")
    one = BY_NAME["go-1-2014"]
    assert corpus.typeset(one) == corpus.typeset(one)
    corpus.write_documents(tmp_path, [one])
    assert (tmp_path / "manifest.csv").read_text(encoding="utf-8").count("\n") == 2
    assert (tmp_path / "go-1-2014.pdf").read_bytes()[:5] == b"%PDF-"


def test_main_typesets_and_writes_all(tmp_path, monkeypatch):
    for name in ("instruments.yaml", "verified.yaml"):
        shutil.copy(FOLDER / name, tmp_path)
    monkeypatch.setattr(corpus, "typeset", lambda instrument: instrument.document.encode())
    corpus.main(["--folder", str(tmp_path)])
    assert (tmp_path / "act-4-2010.pdf").read_bytes() == b"act-4-2010"
    assert len(list((tmp_path / "truth").glob("*.json"))) == 14


def test_typesetting_says_what_is_wrong(monkeypatch):
    with pytest.raises(DataError, match="not installed"):
        monkeypatch.setenv("PATH", "/nonexistent")
        corpus.run_xelatex("", datetime.date(2020, 1, 1))


@pytest.mark.tex
def test_a_bad_source_shows_its_log():
    with pytest.raises(DataError, match="Undefined control sequence"):
        corpus.run_xelatex(r"\nonsense", datetime.date(2020, 1, 1))


def test_a_page_too_many_is_an_error(monkeypatch):
    with pymupdf.open() as pdf:
        pdf.new_page()
        one_page = pdf.tobytes()
    monkeypatch.setattr(corpus, "run_xelatex", lambda *_: one_page)
    for layer in ("actualtext", "legacy"):
        with pytest.raises(DataError, match="1 pages printed, 2 written"):
            corpus.typeset(replace(BY_NAME["act-4-2010"], layer=layer))


def test_a_page_of_the_html_box_that_is_too_full_is_an_error():
    if not corpus.BENGALI_FONT.exists():
        pytest.skip("no Noto Serif Bengali here")
    full = replace(BY_NAME["go-1-2014"], pages=[[{"document": "\n".join(["a"] * 200)}]])
    with pytest.raises(DataError, match="2 pages printed, 1 written"):
        corpus.typeset(full)


@given(st.text())
def test_latex_text_leaves_no_special_character_bare(text):
    out = corpus.latex_text(text)
    out = re.sub(r"\\(?:textbackslash|textasciitilde|textasciicircum)\{\}|\\[{}$&#%_]", "", out)
    out = re.sub(r"\{\\bn [^{}\\]*\}", "", out)
    assert not set(out) & set("\\{}$&#%_~^")


def test_latex_source_continues_tables_with_their_head():
    source = corpus.latex_source(BY_NAME["sro-110-2011"], actual_text=False)
    assert source.count(r"\begin{tabular}") == 2
    assert source.count("HS Code") == 2
    assert source.count(r"\newpage") == 1
    assert source.startswith(r"\XeTeXgenerateactualtext=0")


# -------------------------------------------------------------------------------- legacy encoding


@pytest.mark.parametrize(
    ("text", "legacy"),
    [
        ("প্রজ্ঞাপন", "cÖÁvcb"), ("কাস্টমস", "Kv÷gm"), ("সম্পর্কে", "m¤ú†K©"),
        ("নির্ধারণ", "wba©viY"), ("কোটি", "†KvwU"), ("মৌজা", "†gŠRv"), ("জ্যৈষ্ঠ", "‰R¨ô"),
        ("২০১৩ সনের", "2013 m‡bi".replace("‡", "†")), ("plain 12", "plain 12"),
    ],
)  # fmt: skip
def test_legacy_encoding(text, legacy):
    assert corpus.to_legacy(text) == legacy


@given(st.text(alphabet=st.characters(max_codepoint=0x7F)))
def test_legacy_encoding_leaves_ascii_alone(text):
    assert corpus.to_legacy(text) == text


def test_legacy_layer_holds_no_bengali_and_no_bare_virama():
    for page in TRUTH["sro-160-2013"]["pages"]:
        encoded = corpus.to_legacy(page["text"])
        assert not re.search(r"[\u0980-\u09ff&]", encoded)


# ---------------------------------------------------------------------------------- verified rows


def elements():
    rows = []
    for element_id, text in TEXTS.items():
        if IS_READABLE[element_id]:
            name, number = element_id.split("/")
            clause = next(c for c in TRUTH[name]["clauses"] if c["clause_number"] == number)
            dates = [{"value": mention.value} for mention in mentions(text)]
            rows.append(
                Element(
                    element_id, name, BY_NAME[name].type, "clause", "", number, clause["title"],
                    text, clause["page_start"], clause["page_end"], [], dates,
                    BY_NAME[name].date.isoformat(),
                )
            )  # fmt: skip
    return Corpus(rows)


ELEMENTS = elements()


def dates_in(text):
    """Gregorian days of a text in the forms that the corpus uses, by regular expressions alone."""
    plain = text.translate(DIGITS)
    months = {"January": 1, "June": 6, "July": 7, "November": 11, "February": 2}
    months |= {"জুন": 6, "জুলাই": 7}
    found = {
        f"{y}-{int(m):02d}-{int(d):02d}" for d, m, y in re.findall(r"(\d\d)/(\d\d)/(\d{4})", plain)
    }
    pattern = rf"(\d+) ({'|'.join(months)}),? (\d{{4}})"
    found |= {f"{y}-{months[m]:02d}-{int(d):02d}" for d, m, y in re.findall(pattern, plain)}
    return found | set(re.findall(r"\d{4}-\d\d-\d\d", plain))


def facts_in(text):
    """Dates, instrument numbers, percentages and amounts as plain strings."""
    plain = text.translate(DIGITS)
    facts = {("date", value) for value in dates_in(text)}
    facts |= {("sro", value) for value in re.findall(r"\d+-AIN/\d{4}", plain)}
    facts |= {("order", v) for v in re.findall(r"(?:Order|G\.O\.) No\. (\d+/\d{4})", plain)}
    facts |= {("rate", value) for value in re.findall(r"(\d+)%", plain)}
    facts |= {("usd", value) for value in re.findall(r"USD (\d+(?:\.\d\d)?)", plain)}
    facts |= {("bdt", v) for v in re.findall(r"BDT (\d,\d{3})", plain)}
    facts |= {("bdt", v) for v in re.findall(r"(\d,\d{3}) \([^)]*\)(?: টাকা|”)", plain)}
    facts |= {("kg", value) for value in re.findall(r"(\d+)(?: \([^)]*\))? (?:kg|কেজি)", plain)}
    months = r"(\d+)(?: \([^)]*\))? (?:months|মাস)"
    return facts | {("months", value) for value in re.findall(months, plain)}


def answer_of(pair):
    if pair.task != "event_sorting":
        return pair.fields["answer"]
    return "\n".join(f"{row['date']} {row['event']}" for row in pair.fields["answer_ordered"])


def label(pair):
    return f"{pair.task}-{pair.thread_id}"


def of_task(task):
    return [pair for pair in QUESTIONS if pair.task == task]


def test_enough_questions_of_every_task_over_enough_threads():
    counts = Counter(pair.task for pair in QUESTIONS)
    assert set(counts) == set(TASKS) and min(counts.values()) >= 8
    assert len({pair.question_id for pair in QUESTIONS}) == len(QUESTIONS) >= 64
    for task in TASKS:
        assert len({pair.thread_id for pair in of_task(task)}) >= 8
    gold = Counter(frozenset(c.split("/")[0] for c in pair.clause_ids) for pair in QUESTIONS)
    assert len(gold) <= 25 and max(len(documents) for documents in gold) <= 3


@pytest.mark.parametrize("pair", QUESTIONS, ids=label)
def test_every_fact_of_an_answer_stands_in_the_cited_clauses(pair):
    assert len(set(pair.clause_ids)) == len(pair.clause_ids) > 0
    assert all(IS_READABLE[clause] for clause in pair.clause_ids)
    cited = facts_in("\n".join(TEXTS[clause] for clause in pair.clause_ids))
    stated = facts_in(answer_of(pair))
    assert stated - cited == set()
    if pair.task not in ("temporal_mcq", "context_misalignment"):
        assert {kind for kind, _ in stated} & {"date"}


@pytest.mark.parametrize("pair", QUESTIONS, ids=label)
def test_every_pair_passes_the_checks_of_the_construction(pair):
    thread = THREADS[pair.thread_id]
    assert pair.cluster_id == thread.cluster_id
    assert first_failure(pair.task, pair.clause_ids, pair.fields, thread, ELEMENTS) is None


def test_questions_have_ids_of_their_content():
    for pair in QUESTIONS:
        again = QuestionPair.create(
            pair.task, pair.thread_id, pair.cluster_id, pair.clause_ids, pair.fields, "shipped"
        )
        assert again == pair


def test_choices_are_four_and_places_of_the_answer_vary():
    for pair in of_task("temporal_mcq"):
        options = pair.fields["options"]
        assert len(options) == len(set(options)) == 4
        assert options[pair.fields["answer_index"]] == pair.fields["answer"]
    assert {pair.fields["answer_index"] for pair in of_task("temporal_mcq")} == {0, 1, 2, 3}


def test_events_tell_no_time_and_are_shuffled():
    words = "January February March April June July August September October November December"
    for pair in of_task("event_sorting"):
        ordered = pair.fields["answer_ordered"]
        dates = [row["date"] for row in ordered]
        assert dates == sorted(set(dates)) and 3 <= len(dates) <= 6
        assert [row["event"] for row in ordered] != pair.fields["events_shuffled"]
        assert sorted(row["event"] for row in ordered) == sorted(pair.fields["events_shuffled"])
        for event in pair.fields["events_shuffled"]:
            assert not re.search(r"\b(?:19|20)\d\d\b|\bMay\b", event.translate(DIGITS))
            assert not set(words.split()) & set(event.split())


def test_about_half_of_the_statements_are_perturbed_in_one_fact():
    pairs = of_task("perturbation_detection")
    perturbed = [pair for pair in pairs if pair.fields["is_perturbed"]]
    assert 0.4 <= len(perturbed) / len(pairs) <= 0.6
    for pair in pairs:
        fields = pair.fields
        cited = facts_in("\n".join(TEXTS[clause] for clause in pair.clause_ids))
        if pair in perturbed:
            assert fields["perturbed_fact"] in fields["statement"]
            assert fields["correct_fact"] != fields["perturbed_fact"]
            repaired = fields["statement"].replace(fields["perturbed_fact"], fields["correct_fact"])
            assert len(facts_in(fields["statement"]) - cited) == 1
            assert facts_in(repaired) - cited == set()
            assert fields["correct_fact"] in fields["answer"]
        else:
            assert fields["perturbed_fact"] is fields["correct_fact"] is None
            assert facts_in(fields["statement"]) - cited == set()


def test_relative_questions_do_not_name_their_target():
    for pair in of_task("relative_time_qa"):
        question = pair.fields["question"].translate(DIGITS)
        targets = dates_in(pair.fields["answer"])
        assert pair.fields["seed_time"] in question and pair.fields["relative_offset"] in question
        assert len(targets) == 1
        assert all(day not in question and day[:4] not in question for day in targets)


def test_misaligned_contexts_differ_from_the_sources():
    for pair in of_task("context_misalignment"):
        assert pair.fields["conflict"] and pair.fields["misaligned_context"] not in str(TEXTS)
        assert dates_in(pair.fields["answer"])


def test_scenarios_do_not_quote_the_answer():
    for task in ("scenario_short_answer", "temporal_scenario_short_answer"):
        for pair in of_task(task):
            facts = facts_in(pair.fields["answer"])
            assert not facts & facts_in(pair.fields["scenario"]) - {("kg", "35")}
    cited = [
        {c.split("/")[0] for c in pair.clause_ids} for pair in of_task("scenario_short_answer")
    ]
    assert all(len(documents) == 1 for documents in cited)
    spans = of_task("temporal_scenario_short_answer")
    assert all(len({c.split("/")[0] for c in pair.clause_ids}) > 1 for pair in spans)


@pytest.mark.parametrize("thread", THREADS.values(), ids=lambda thread: thread.thread_id)
def test_threads_rest_on_what_their_clauses_state(thread):
    check_thread(thread, ELEMENTS)
    assert 3 <= len(thread.timeline) <= 5
    for step in thread.timeline:
        cited = "\n".join(TEXTS[element_id] for element_id in step["element_ids"])
        assert step["date"] in dates_in(cited)
        assert facts_in(step["change"]) - facts_in(cited) == set()
    assert len({step["document"] for step in thread.timeline}) == len(thread.timeline)


def test_values_of_threads_go_up_and_down():
    directions = Counter()
    for thread in THREADS.values():
        first = {d["dimension"]: d["value"] for d in thread.dimensions}
        series = next(v for k, v in first.items() if k not in ("direction", "form", "code"))
        values = [
            float(v.replace(",", "")) for v in re.findall(r"\d[\d,]*(?:\.\d+)?(?=\D|$)", series)
        ]
        steps = {b > a for a, b in pairwise(values)}
        directions[frozenset(steps)] += 1
    assert directions == {frozenset({True, False}): len(THREADS)}
    assert len(THREADS) >= 8


def test_every_readable_clause_has_entities():
    rows = read_records(FOLDER / "entities.jsonl", EntityRow)
    assert [row.element_id for row in rows] == [
        e for e, readable in IS_READABLE.items() if readable
    ]
    assert all(1 <= len(row.entities) <= 3 for row in rows)
    assert all(entity["concepts"] for row in rows for entity in row.entities)
    names = {entity["name"] for row in rows for entity in row.entities}
    for thread in THREADS.values():
        assert thread.cluster_id in names


def test_verdicts_are_on_known_names_in_order():
    rows = [row for _, row in iterate_jsonl(FOLDER / "aliases.jsonl")]
    entities = read_records(FOLDER / "entities.jsonl", EntityRow)
    names = {each["name"] for row in entities for each in row.entities}
    names |= {sub["name"] for row in entities for e in row.entities for sub in e["sub_entities"]}
    pairs = [(row["a"], row["b"]) for row in rows]
    assert pairs == sorted(set(pairs)) and all(a < b and {a, b} <= names for a, b in pairs)
    verdicts = Counter(row["verdict"] for row in rows)
    assert set(verdicts) == {
        *("alias", "abbreviation", "numeral_variant", "related", "part_whole", "unclear")
    }
    assert {(row["unit_id"], row["judge"]) for row in rows} == {("", "project")}
    same = {frozenset((r["a"], r["b"])) for r in rows if r["verdict"] == "related"}
    assert frozenset(("S.R.O. No. 101-AIN/2011", "S.R.O. No. 101-AIN/2014")) in same


# ---------------------------------------------------------------------------------- hostile input


def one_document(**changes):
    row = {
        "document": "x", "title": "X", "type": "SRO", "date": datetime.date(2020, 1, 1),
        "instrument": "S.R.O. No. 1-AIN/2020", "layer": "plain", "calendars": [],
        "pages": [[{"clause": {"printed": "1.", "title": "", "hierarchy": [], "text": "1. A."}}]],
    }  # fmt: skip
    return {"documents": [{**row, **changes}]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"layer": "ocr"}, "unknown layer 'ocr'"),
        ({"layers": {1: "scan"}}, "unknown layer 'scan'"),
        ({"type": "Law"}, "unknown type 'Law'"),
        ({"pages": [[{"note": "x"}]]}, "give each block one of"),
        ({"pages": [[{"page": "x", "document": "y"}]]}, "give each block one of"),
        ({"pages": [[{"continued": "x"}]]}, "before the first clause"),
        (
            {"pages": [[{"clause": {"printed": "2.", "title": "", "text": "1. A."}}]]},
            "must begin with it",
        ),
        ({"colour": "red"}, "unexpected keyword"),
    ],
)
def test_bad_instruments_are_named(tmp_path, changes, message):
    path = tmp_path / "instruments.yaml"
    path.write_text(yaml.safe_dump(one_document(**changes)), encoding="utf-8")
    with pytest.raises(DataError, match=re.escape(message)):
        corpus.read_instruments(path)


def test_a_clause_may_run_over_pages_between_tables():
    table = {"headers": ["a"], "rows": [["1"]], "widths": [10]}
    clause = {"printed": "1.", "title": "", "hierarchy": [], "text": "1. A."}
    pages = [[{"clause": clause}, {"table": table}], [{"continued": "B."}, {"table": table}]]
    truth = corpus.truth_of(corpus.Instrument(**one_document(pages=pages)["documents"][0]))
    assert truth["clauses"][0]["text"] == "1. A.\n[TABLE_1]\nB.\n[TABLE_2]"
    assert truth["clauses"][0]["page_end"] == 2
    assert [table["page_start"] for table in truth["tables"]] == [1, 2]
    assert [page["text"] for page in truth["pages"]] == ["1. A.\na\n1", "B.\na\n1"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("{sro-132-2015: [1, 3]}", "{sro-132-2015: [1, 9]}", "has no clause 9"),
        ("{sro-132-2015: [1, 3]}", "{sro-999-2015: [1]}", "sro-999-2015 has no clause 1"),
        ("- thread: monthly-return\n      cites", "- thread: nothing\n      cites", "no thread"),
    ],
)
def test_bad_citations_are_named(tmp_path, old, new, message):
    text = (FOLDER / "verified.yaml").read_text(encoding="utf-8")
    assert old in text
    path = tmp_path / "verified.yaml"
    path.write_text(text.replace(old, new, 1), encoding="utf-8")
    with pytest.raises(DataError, match=message):
        corpus.read_verified(path, INSTRUMENTS)


def test_truth_files_are_strict_json():
    for name in NAMES:
        assert read_json(FOLDER / "truth" / f"{name}.json") == TRUTH[name]
