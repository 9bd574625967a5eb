"""Clusters of names: the closure of confirmed aliases that never joins a rejected pair.

Confirmed pairs are taken from the most to the least similar, equally similar ones by name. A pair
whose union would bring two rejected names together is refused and reported; so it is always the
weaker of the conflicting merges that gives way, whatever the order of the verdicts. Source: TIDE
section 2.4 (union-find); the rule for contradictions is ours, the paper has none.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence

from scipy.cluster.hierarchy import DisjointSet

from scripts.files import DataError
from scripts.records import content_id
from scripts.tide.construction.aliases import AliasVerdict, Decisions, Pair, decide
from scripts.tide.construction.candidates import Candidate
from scripts.tide.construction.construction_report import ReportRow
from scripts.tide.construction.provisions import Corpus
from scripts.tide.rows import Cluster, EntityRow

#: Distinct dates that a cluster must span.
MINIMUM_DATES = 2


def closure(
    names: Iterable[str], decisions: Decisions, similarity: Mapping[Pair, float]
) -> tuple[list[list[str]], list[ReportRow]]:
    """Groups of names (sorted, each sorted) and the refused merges.

    `similarity` gives the strength of a pair; a pair without one is the weakest. Raises DataError
    for a decision on a name that is not among the names.
    """
    groups = DisjointSet(sorted(set(names)))
    rejected: dict[str, set[str]] = defaultdict(set)
    for a, b in decisions.rejected | decisions.confirmed:
        for name in (a, b):
            if name not in groups:
                raise DataError(f"verdict on {name!r}, which no entity has; judge again")
    for a, b in decisions.rejected:
        rejected[a].add(b)
        rejected[b].add(a)
    report: list[ReportRow] = []
    for a, b in sorted(decisions.confirmed, key=lambda p: (-similarity.get(p, 0.0), p)):
        if groups.connected(a, b):
            continue
        left, right = groups.subset(a), groups.subset(b)
        if apart := _rejected_between(left, right, rejected):
            reason = f"would join {apart[0]!r} and {apart[1]!r}, which are rejected"
            report.append(ReportRow("clusters", f"{a} / {b}", "refused", reason))
            continue
        groups.merge(a, b)
    return sorted(sorted(group) for group in groups.subsets()), report


def _rejected_between(
    left: set[str], right: set[str], rejected: Mapping[str, set[str]]
) -> Pair | None:
    pairs = [(min(a, b), max(a, b)) for a in left for b in rejected.get(a, set()) & right]
    return min(pairs, default=None)


def build_clusters(
    rows: Sequence[EntityRow],
    verdicts: Iterable[AliasVerdict],
    candidates: Iterable[Candidate],
    corpus: Corpus,
    minimum_elements: int,
) -> tuple[list[Cluster], list[ReportRow]]:
    """All clusters, also those of one name, sorted by name, and the report of contradictions.

    Elements of a cluster mention one of its names, as an entity or a sub-entity; its dates are
    those of their instruments. A cluster qualifies with `minimum_elements` elements and two
    distinct dates; otherwise `reason` says what is lacking.
    """
    mentions, as_entity = _mentions(rows, corpus)
    decisions = decide(verdicts)
    similarity = {candidate.pair: candidate.similarity for candidate in candidates}
    groups, refused = closure(mentions, decisions, similarity)
    clusters = []
    for members in groups:
        element_ids = corpus.ordered(e for name in members for e in mentions[name])
        dates = sorted({corpus.date(e) for e in element_ids} - {""})
        reason = shortfall(len(element_ids), len(dates), minimum_elements)
        name = min(members, key=lambda m: (-as_entity[m], -len(mentions[m]), -len(m), m))
        cluster_id = f"cluster-{content_id('cluster', members)}"
        clusters.append(Cluster(cluster_id, name, members, element_ids, dates, not reason, reason))
    return sorted(clusters, key=lambda c: (c.name, c.cluster_id)), [*decisions.report, *refused]


def shortfall(elements: int, dates: int, minimum_elements: int) -> str:
    """Why a cluster does not qualify; empty when it does."""
    if elements < minimum_elements:
        return f"too few elements: {elements} of {minimum_elements}"
    return f"too few dates: {dates} of {MINIMUM_DATES}" if dates < MINIMUM_DATES else ""


def _mentions(
    rows: Iterable[EntityRow], corpus: Corpus
) -> tuple[dict[str, set[str]], Counter[str]]:
    """Elements of every name, and in how many it is an entity (not a sub-entity)."""
    mentions: dict[str, set[str]] = defaultdict(set)
    as_entity: Counter[str] = Counter()
    for row in rows:
        if row.element_id not in corpus:
            raise DataError(f"entities of {row.element_id}, which is no element; extract again")
        for entity in row.entities:
            mentions[entity["name"]].add(row.element_id)
            as_entity[entity["name"]] += 1
            for sub in entity["sub_entities"]:
                mentions[sub["name"]].add(row.element_id)
    return dict(mentions), as_entity


def cluster_by_name(clusters: Iterable[Cluster]) -> dict[str, Cluster]:
    """The cluster of every surface form."""
    return {member: cluster for cluster in clusters for member in cluster.members}
