import hashlib
import json
import warnings
from types import SimpleNamespace

import mlcroissant as mlc
import pytest

from scripts.corpora.readers import Document
from scripts.files import iterate_jsonl, write_records
from scripts.syntaxbench import export_dataset
from scripts.syntaxbench.items import Materials, Stream, build_task
from scripts.syntaxbench.tasks import TASKS

CORPORA = {
    "vocabulary": {"label": "words", "licence": "MIT", "attribution": "A"},
    "palindromes": {
        "label": "list",
        "licence": "CC-BY-SA-4.0",
        "attribution": "B",
        "mediawiki": {"api": "https://en.wiktionary.org/w/api.php"},
    },
    "documents": {
        "label": "prose",
        "licence": "CC-BY-SA-4.0",
        "attribution": "C",
        "url": "https://example.org/d",
    },
}


class Named(SimpleNamespace):
    def get(self, name, default=None):
        return getattr(self, name, default)


@pytest.fixture(scope="module")
def exported(tmp_path_factory):
    folder = tmp_path_factory.mktemp("dataset")
    words = sorted({Stream("words", n).letters(3 + n % 9) for n in range(600)})
    mirrored = sorted({word + word[::-1] for word in words if len(word) < 6})
    prose = [Document(f"d{n}@7", f"T {n}", f"{n} " + "plain words " * 80) for n in range(12)]
    names = {role: entry["label"] for role, entry in CORPORA.items()}
    materials = Materials(words + mirrored[::2], mirrored, prose, names)
    options = {"strings": [3, 6], "span_length": [5, 30]}
    items, shown = [], []
    for task in TASKS:
        built = build_task(task, materials, count=4, demonstrations=4, seed=3, options=options)
        for paths, kind, rows in ((items, "i", built.items), (shown, "d", built.demonstrations)):
            paths.append(folder / f"{kind}.{task}")
            write_records(paths[-1], rows)

    def export(name, **pools):
        out = folder / name
        job = SimpleNamespace(
            input=Named(item_files=items, **pools),
            output=SimpleNamespace(
                croissant=out / "croissant.json",
                licences=out / "LICENSES.md",
                item_files=[out / f"{task}.jsonl" for task in TASKS],
            ),
            params=SimpleNamespace(corpora=CORPORA, seed=3),
        )
        export_dataset.main(job)
        return out

    return SimpleNamespace(
        first=export("a", demonstrations=shown),
        again=export("b", demonstrations=shown),
        bare=export("c"),
    )


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
    assert record["license"] == ["CC-BY-SA-4.0", "MIT"]
    for file in record["distribution"]:
        data = (exported.first / file["contentUrl"]).read_bytes()
        assert hashlib.sha256(data).hexdigest() == file["sha256"]
    assert "date" not in json.dumps(record["distribution"]).lower()
    assert "datePublished" not in record


@pytest.mark.parametrize("task", TASKS)
def test_records_are_read_through_croissant(exported, task):
    dataset = mlc.Dataset(jsonld=str(exported.first / "croissant.json"))
    records = list(dataset.records(task))
    rows = [row for _, row in iterate_jsonl(exported.first / f"{task}.jsonl")]
    assert len(records) == len(rows) == 16
    for record, row in zip(records, rows, strict=True):
        for name, value in row.items():
            found = record[f"{task}/{name}"]
            if isinstance(value, list):
                assert [part.decode() for part in found] == value
            else:
                assert (found.decode() if isinstance(found, bytes) else found) == value


def test_rows(exported):
    rows = [row for _, row in iterate_jsonl(exported.first / "index_to_span.jsonl")]
    assert [row["split"] for row in rows] == ["test"] * 8 + ["demonstration"] * 8
    assert rows[0]["document"][rows[0]["start"] : rows[0]["end"]] == rows[0]["answer"]
    bare = [row for _, row in iterate_jsonl(exported.bare / "index_to_span.jsonl")]
    assert bare == rows[:8]


def test_licences_name_every_source_and_document(exported):
    text = (exported.first / "LICENSES.md").read_text()
    for entry in CORPORA.values():
        assert entry["label"] in text and entry["licence"] in text and entry["attribution"] in text
    assert "https://example.org/d" in text and "en.wiktionary.org" in text
    rows = [row for _, row in iterate_jsonl(exported.first / "index_to_span.jsonl")]
    assert all(f"`{row['source_document']}`" in text for row in rows)
