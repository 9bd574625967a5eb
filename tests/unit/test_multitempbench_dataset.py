import hashlib
import json
import warnings
from types import SimpleNamespace

import mlcroissant as mlc
import pytest
from multitempbench_material import own_items

from scripts.files import iterate_jsonl, write_records
from scripts.multitempbench import export_dataset
from scripts.multitempbench.dataset import COLUMNS, flat_row, offset_words
from scripts.multitempbench.tasks import FORMATS, LANGUAGES, TASKS

CORPORA = {
    "own_questions": {"label": "own questions", "licence": "CC0-1.0", "attribution": "A"},
    "tram_arithmetic": {
        "label": "TRAM",
        "licence": "MIT",
        "attribution": "B",
        "url": "https://example.org/tram",
    },
}


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    items = []
    for task in TASKS:
        items.append(folder / f"items.{task}")
        write_records(items[-1], own_items(task).items)

    def export(name):
        out = folder / name
        job = SimpleNamespace(
            input=SimpleNamespace(item_files=items),
            output=SimpleNamespace(
                croissant=out / "croissant.json",
                licences=out / "LICENSES.md",
                item_files=[out / f"{task}.jsonl" for task in TASKS],
            ),
            params=SimpleNamespace(corpora=CORPORA, languages=list(LANGUAGES), seed=3),
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
    assert record["license"] == ["CC0-1.0", "MIT"]
    assert record["inLanguage"] == list(LANGUAGES)
    assert len(record["distribution"]) == len(TASKS)
    for file in record["distribution"]:
        data = (exported.first / file["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
    assert "datePublished" not in record
    assert "Asia/Kathmandu +05:45" in record["description"]
    assert "America/St_Johns -03:30" in record["description"]
    assert "local_mean_time" not in record["description"]


def test_offsets_of_an_old_day_are_said_to_be_the_sources():
    operation = {"kind": "time_zone", "from": "Asia/Singapore", "to": "UTC"}
    rows = [{"operation": json.dumps({**operation, "offsets": "local_mean_time"})}]
    assert "Asia/Singapore +08:00, UTC +00:00." in offset_words(rows)
    assert "local_mean_time" in offset_words(rows)
    assert offset_words([{"operation": json.dumps({"kind": "none"})}]) == ""


@pytest.mark.parametrize("task", TASKS)
def test_records_are_read_through_croissant(exported, task):
    dataset = mlc.Dataset(jsonld=str(exported.first / "croissant.json"))
    records = list(dataset.records(task))
    rows = rows_of(exported.first, task)
    assert len(records) == len(rows) == len(own_items(task).items)
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            found = record[f"{task}/{name}"]
            if isinstance(value, list):
                assert [part.decode() for part in found] == value
            else:
                assert found.decode() == value


@pytest.mark.parametrize("task", TASKS)
def test_rows_hold_the_whole_item(exported, task):
    rows = rows_of(exported.first, task)
    assert {(row["language"], row["format"]) for row in rows} == {
        (language, form) for language in LANGUAGES for form in FORMATS
    }
    for row, item in zip(rows, own_items(task).items, strict=True):
        assert sorted(row) == sorted(column.name for column in COLUMNS) == sorted(flat_row(item))
        assert json.loads(row["operation"]) == item.inputs["operation"]
        assert row["answer"] == item.gold["answer"] and row["aliases"] == item.gold["aliases"]
        assert all(text in row["question"] for text in row["dates_as_written"])


def test_licences_name_every_source_and_translator(exported):
    text = (exported.first / "LICENSES.md").read_text()
    for entry in CORPORA.values():
        assert entry["label"] in text and entry["licence"] in text and entry["attribution"] in text
    assert "https://example.org/tram" in text
    count = sum(len(own_items(task).items) for task in TASKS) // len(LANGUAGES)
    assert f"- Hausa: project ({count})" in text and f"- English: source ({count})" in text
