"""The rule scripts of probing on a tiny model, and the frames on planted states."""

from __future__ import annotations

from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pandas as pd
import pytest
import tiny_models
import torch

from scripts.files import DataError, read_csv, read_json
from scripts.probing import analysis, extract_states, fit_probes, gather_probes, states
from scripts.probing.probes import ProbeSettings
from scripts.probing.state_files import Cell, open_states

ROOT = Path(__file__).parents[2]
ENTRY = {
    "backend": "transformers", "source": "org/tiny", "revision": "1", "precision": "int4",
    "modes": ["non_thinking"], "threads": 1,
}  # fmt: skip
PENALTIES = [0.01, 1.0, 100.0, 10000.0]
SETTINGS = ProbeSettings(3, 2, 10, tuple(PENALTIES), 7)


class Named(dict[str, Any]):
    """What Snakemake gives as input, output or params."""

    __getattr__ = dict.__getitem__


def extract_job(folder: Path, model: Path) -> SimpleNamespace:
    return SimpleNamespace(
        input=Named(
            weights=[str(model / "config.json")],
        ),
        output=Named(
            states=str(folder / "tiny.safetensors"),
            index=str(folder / "tiny.jsonl"),
            manifest=str(folder / "tiny.json"),
        ),
        params=Named(
            name="tiny", entry=ENTRY, benchmark="multitempbench", years=[1990, 1999],
            dates_per_year=2, formats=["iso", "long"], languages=["en", "ar"],
            tokens=list(states.TOKENS), precision="float32", seed=3,
        ),
    )  # fmt: skip


def fit_job(folder: Path, name: str, extracted: SimpleNamespace) -> SimpleNamespace:
    return SimpleNamespace(
        threads=1,
        input=extracted.output,
        output=Named(
            probes=str(folder / f"{name}.csv"),
            geometry=str(folder / f"{name}.geometry.csv"),
            pca=str(folder / f"{name}.pca.csv"),
        ),
        params=Named(
            name=name, headline_token="last_date_token", folds=3, repetitions=2, permutations=5,
            penalties=PENALTIES, seed=3,
        ),
    )  # fmt: skip


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, SimpleNamespace, list[Any]]:
    torch.set_num_threads(1)
    folder = tmp_path_factory.mktemp("probing")
    model = tiny_models.save(folder / "model", tiny_models.gemma())
    extracted = extract_job(folder, model)
    extract_states.main(extracted)
    jobs = [fit_job(folder, name, extracted) for name in ("tiny", "again")]
    for job in jobs:
        fit_probes.main(job)
    return folder, extracted, jobs


def gathered(folder: Path, jobs: list[Any]) -> dict[str, pd.DataFrame]:
    out = folder / "statistics"
    names = ("probes", "geometry", "pca", "linearity")
    gather_probes.main(
        SimpleNamespace(
            input=Named({n: [job.output[n] for job in jobs] for n in names[:3]}),
            output=Named({n: str(out / f"{n}.csv") for n in names}),
            params=Named(headline_token="last_date_token", held_out_format="iso"),
        )
    )
    return {name: read_csv(out / f"{name}.csv") for name in names}


def test_extraction_writes_states_index_and_manifest(
    built: tuple[Path, SimpleNamespace, list[Any]],
) -> None:
    output = built[1].output
    about = read_json(output.manifest)
    assert about["texts"] == 2 * 2 * 20 and about["stored_as"] == "float32"
    assert about["layer_names"][0] == "embeddings" and about["layers"] == len(about["layer_names"])
    assert about["model"]["precision"] == "float32"  # of the probing section, not of the entry
    assert about["special_tokens_before"] == [0] and about["wall_seconds"] > 0
    assert about["positions"] == list(states.TOKENS) and len(about["config_sha256"]) == 64
    with open_states(output.states, output.index) as file:
        assert file.shape == (80, about["layers"], about["width"])


def test_extraction_repeats_byte_for_byte(
    built: tuple[Path, SimpleNamespace, list[Any]], tmp_path: Path
) -> None:
    job = extract_job(tmp_path, built[0] / "model")
    extract_states.main(job)
    for name in ("states", "index"):
        assert Path(job.output[name]).read_bytes() == Path(built[1].output[name]).read_bytes()


def test_fitting_repeats_byte_for_byte(built: tuple[Path, SimpleNamespace, list[Any]]) -> None:
    first, second = built[2]
    for name in ("probes", "geometry", "pca"):
        text = Path(first.output[name]).read_text()
        assert text == Path(second.output[name]).read_text().replace("again,", "tiny,")


def test_frames_have_every_cell_once(built: tuple[Path, SimpleNamespace, list[Any]]) -> None:
    folder, extracted, jobs = built
    frames = gathered(folder, jobs)
    layers = read_json(extracted.output.manifest)["layers"]
    probes = frames["probes"]
    assert list(probes.columns) == analysis.PROBE_COLUMNS
    assert len(probes) == 2 * 2 * 3 * 3 * layers * 3
    assert not probes.duplicated(analysis.PROBE_KEYS).any()
    assert list(dict.fromkeys(probes["language"])) == ["en", "ar"]
    assert list(dict.fromkeys(probes["format"])) == ["iso", "long", "all"]
    assert set(probes.loc[probes["component"] == "year", "n"]) == {10}
    assert set(probes.loc[probes["component"] != "year", "n"]) == {20}
    geometry = frames["geometry"]
    assert list(geometry.columns) == analysis.GEOMETRY_COLUMNS
    assert len(geometry) == 2 * 2 * 3 * 3 * layers
    pca = frames["pca"]
    assert list(pca.columns) == analysis.PCA_COLUMNS
    assert set(pca["scope"]) == {"joint", "language"}
    assert set(pca.groupby(["model", "scope", "language", "layer"]).size()) == {10}


def test_all_is_the_mean_over_the_formats(built: tuple[Path, SimpleNamespace, list[Any]]) -> None:
    probes = read_csv(built[2][0].output.probes)
    keys = ["language", "token", "layer", "component"]
    parts = probes[probes["format"] != "all"].groupby(keys)["r2_cv"].mean()
    whole = probes[probes["format"] == "all"].set_index(keys)["r2_cv"]
    np.testing.assert_allclose(whole.sort_index(), parts.sort_index(), atol=2e-6)


def test_the_last_token_is_the_dates_but_for_the_arabic_iso_mark(
    built: tuple[Path, SimpleNamespace, list[Any]],
) -> None:
    probes = read_csv(built[2][0].output.probes)
    values = ["language", "format", "layer", "component", "r2_cv", "r2_line"]
    tokens = {
        token: part[values].reset_index(drop=True)
        for token, part in probes[probes["format"] != "all"].groupby("token")
    }
    date, last = tokens["last_date_token"], tokens["last_token"]
    arabic_iso = (date["language"] == "ar") & (date["format"] == "iso")
    pd.testing.assert_frame_equal(date[~arabic_iso], last[~arabic_iso])
    assert not date[arabic_iso].equals(last[arabic_iso])


def test_linearity_is_chosen_on_one_format_and_evaluated_on_the_others(
    built: tuple[Path, SimpleNamespace, list[Any]],
) -> None:
    frames = gathered(built[0], built[2])
    linearity, probes = frames["linearity"], frames["probes"]
    assert list(linearity.columns) == analysis.LINEARITY_COLUMNS
    assert len(linearity) == 4 and set(linearity["chosen_on"]) == {"iso"}
    row = linearity[(linearity["model"] == "tiny") & (linearity["language"] == "ar")].iloc[0]
    own = probes[(probes["model"] == "tiny") & (probes["language"] == "ar")
                 & (probes["token"] == "last_date_token")]  # fmt: skip
    iso = own[own["format"] == "iso"].groupby("layer")["r2_cv"].mean()
    assert row["layer"] == iso.idxmax()
    at = own[(own["format"] == "long") & (own["layer"] == row["layer"])].set_index("component")
    assert row["r2_cv"] == pytest.approx(at["r2_cv"].mean(), abs=2e-6)
    assert row["year_r2"] == pytest.approx(at.loc["year", "r2_cv"], abs=2e-6)
    assert row["r2_line"] == pytest.approx(at.loc["year", "r2_line"], abs=2e-6)
    assert row["null_r2"] == pytest.approx(at["r2_null"].mean(), abs=2e-6)


def test_linearity_without_a_format_to_choose_on_is_missing(
    built: tuple[Path, SimpleNamespace, list[Any]],
) -> None:
    probes = read_csv(built[2][0].output.probes)
    found = analysis.linearity_frame(probes, "last_date_token", "slash")
    assert set(found["flag"]) == {"missing"} and found["r2_cv"].isna().all()
    only = probes[probes["format"] == "iso"]
    assert set(analysis.linearity_frame(only, "last_token", "iso")["flag"]) == {"missing"}


def test_gathering_nothing_gives_empty_files_with_columns(tmp_path: Path) -> None:
    frames = gathered(tmp_path, [])
    assert [len(frame) for frame in frames.values()] == [0, 0, 0, 0]
    assert list(frames["linearity"].columns) == analysis.LINEARITY_COLUMNS


def test_gathering_refuses_foreign_columns(
    built: tuple[Path, SimpleNamespace, list[Any]], tmp_path: Path
) -> None:
    job = SimpleNamespace(output=Named(built[2][0].output))
    job.output["probes"] = job.output["geometry"]
    with pytest.raises(DataError, match="columns"):
        gathered(tmp_path, [job])


def test_states_without_the_headline_token(
    built: tuple[Path, SimpleNamespace, list[Any]],
) -> None:
    output = built[1].output
    with (
        open_states(output.states, output.index) as file,
        pytest.raises(DataError, match="no states of first_token"),
    ):
        analysis.pca_frame("tiny", file, "first_token")


@pytest.mark.parametrize(
    ("folds", "message"), [(6, "10 years for 6 folds"), (2, "needs 3 or more")]
)
def test_folds_that_cannot_be(
    built: tuple[Path, SimpleNamespace, list[Any]], folds: int, message: str
) -> None:
    output = built[1].output
    settings = ProbeSettings(folds, 1, 1, tuple(PENALTIES), 1)
    with (
        open_states(output.states, output.index) as file,
        pytest.raises(DataError, match=message),
    ):
        analysis.probe_frame("tiny", file, settings)


class Planted:
    """States with known structure behind the interface of `StateFile`."""

    path = Path("planted")
    tokens = ("last_date_token",)
    last_layer = 0

    def __init__(self, cells: dict[tuple[str, str], Cell]) -> None:
        self.cells = cells

    def groups(self) -> list[tuple[str, str]]:
        return list(self.cells)

    def cell(self, language: str, form: str, token: str) -> Cell:
        return self.cells[language, form]


def planted(*, month: float, seed: int = 0) -> Cell:
    """Dates whose states hold the year on one line and the month, weighted, on another."""
    rng = np.random.default_rng(seed)
    years = np.repeat(np.arange(1990, 2014), 5)
    months, days = rng.integers(1, 13, len(years)), rng.integers(1, 29, len(years))
    axes = rng.standard_normal((2, 64))
    parts = np.column_stack([(years - 2002) / 7, month * (months - 6.5) / 3.5])
    made = parts @ axes + 0.3 * rng.standard_normal((len(years), 64))
    return Cell(made[:, None].astype(np.float32), years, months, days)


def test_planted_components_are_told_apart() -> None:
    cells = {("en", "iso"): planted(month=1.0), ("ha", "iso"): planted(month=0.0)}
    frame = analysis.probe_frame("m", Planted(cells), SETTINGS)  # type: ignore[arg-type]
    found = frame[frame["format"] == "iso"].set_index(["language", "component"])
    assert found.loc[("en", "year"), "r2_cv"] > 0.95
    assert found.loc[("ha", "year"), "r2_line"] > 0.8
    assert found.loc[("en", "month"), "r2_cv"] > 0.9
    for place in (("ha", "month"), ("en", "day"), ("ha", "day")):
        assert found.loc[place, "r2_cv"] < 0.1
    for name in ("r2_null", "r2_random"):
        assert (found[name] < 0.1).all()


def test_one_language_has_no_direction_to_compare(tmp_path: Path) -> None:
    frame = analysis.geometry_frame("m", Planted({("en", "iso"): planted(month=0.0)}))  # type: ignore[arg-type]
    assert frame["direction_similarity"].isna().all()
    assert (frame["chord_arc_ratio"] > 0.2).all()
    assert frame["format"].tolist() == ["iso", "all"]
