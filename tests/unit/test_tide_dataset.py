"""The items of TIDE as a data set: flat rows, licences, a valid Croissant record."""

import hashlib
import json
import warnings
from types import SimpleNamespace

import mlcroissant as mlc
import pytest
from tide_questions import ITEMS, item

from scripts.files import iterate_jsonl, write_records
from scripts.tide import export_dataset
from scripts.tide.dataset import columns, flat_row
from scripts.tide.tasks import TASKS

CORPUS = {
    "label": "own instruments",
    "licence": "CC0-1.0",
    "attribution": "A",
    "url": "https://example.org/law",
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    sources = []
    for task in TASKS:
        sources.append(folder / f"items.{task}")
        write_records(sources[-1], [each for each in ITEMS if each.task == task])

    def export(name):
        out = folder / name
        job = SimpleNamespace(
            input=SimpleNamespace(item_files=sources),
            output=SimpleNamespace(
                croissant=out / "croissant.json",
                licences=out / "LICENSES.md",
                item_files=[out / f"{task}.jsonl" for task in TASKS],
            ),
            params=SimpleNamespace(corpus=CORPUS, seed=3),
        )
        export_dataset.main(job)
        return out

    return SimpleNamespace(first=export("a"), again=export("b"))


def rows_of(folder, task):
    return [row for _, row in iterate_jsonl(folder / f"{task}.jsonl")]


def test_same_bytes_twice(exported):
    names = sorted(path.name for path in exported.first.iterdir())
    assert names == sorted([f"{t}.jsonl" for t in TASKS] + ["LICENSES.md", "croissant.json"])
    for name in names:
        assert (exported.first / name).read_bytes() == (exported.again / name).read_bytes()


def test_croissant_is_valid_and_its_checksums_are_right(exported):
    with warnings.catch_warnings():
        warnings.simplefilter("error", category=SyntaxWarning)
        dataset = mlc.Dataset(jsonld=str(exported.first / "croissant.json"))
    assert not dataset.metadata.ctx.issues.errors
    record = json.loads((exported.first / "croissant.json").read_text())
    # One licence is a text, several are a list.
    assert record["license"] in ("CC0-1.0", ["CC0-1.0"])
    assert record["inLanguage"] == ["en", "bn"]
    assert len(record["distribution"]) == len(TASKS)
    for file in record["distribution"]:
        data = (exported.first / file["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
    assert "datePublished" not in record
    assert "own instruments" in record["description"] and "Seed 3" in record["description"]


@pytest.mark.parametrize("task", TASKS)
def test_records_are_read_through_croissant(exported, task):
    dataset = mlc.Dataset(jsonld=str(exported.first / "croissant.json"))
    records = list(dataset.records(task))
    rows = rows_of(exported.first, task)
    assert len(records) == len(rows) == sum(each.task == task for each in ITEMS)
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            found = record[f"{task}/{name}"]
            if isinstance(value, list):
                read = [part.decode() if isinstance(part, bytes) else part for part in found]
                assert read == value
            elif isinstance(value, int):
                assert int(found) == value
            else:
                assert found.decode() == value


@pytest.mark.parametrize("task", TASKS)
def test_rows_hold_the_whole_item(exported, task):
    rows = rows_of(exported.first, task)
    items = [each for each in ITEMS if each.task == task]
    for row, each in zip(rows, items, strict=True):
        assert sorted(row) == sorted(column.name for column in columns(TASKS[task]))
        assert sorted(row) == sorted(flat_row(each))
        for name in TASKS[task].shown:
            assert row[name] == each.inputs[name]
        assert row["answer"] == each.gold["answer"]
        assert row["answer_dates"] == [date["value"] for date in each.gold["dates"]]
        assert row["clause_ids"] == each.source["clause_ids"]


def test_values_of_scoring_are_plain():
    assert flat_row(item("temporal_mcq"))["answer_index"] == 1
    assert flat_row(item("event_sorting"))["order"] == [1, 2, 0]
    assert flat_row(item("event_sorting"))["event_dates"][0] == "2010-06-10"
    altered, sound = (flat_row(item("perturbation_detection", n)) for n in (0, 1))
    assert (altered["is_perturbed"], sound["is_perturbed"]) == ("true", "false")
    assert altered["correct_fact"] == "300 USD" and sound["correct_fact"] == ""
    temporal = flat_row(item("temporal_scenario_short_answer"))
    assert temporal["clauses_involved"] == "SRO 1/2016; SRO 2/2025"
    assert flat_row(item("relative_time_qa"))["anchor"] == "2016-06-02, nine years later"


def test_licences_name_the_instruments_and_who_wrote_the_pairs(exported):
    text = (exported.first / "LICENSES.md").read_text()
    for part in ("own instruments", "CC0-1.0", "https://example.org/law"):
        assert part in text
    assert f"- from the file of shipped pairs ({len(ITEMS)})" in text


def test_pairs_of_a_model_carry_its_name():
    from scripts.tide.dataset import licence_note

    note = licence_note(CORPUS, [{"origin": "model-x"}, {"origin": "shipped"}])
    assert "- written by model-x (1)" in note and "- from the file of shipped pairs (1)" in note
