"""Entities of every element, their concepts and sub-entities: asked of a model, or shipped.

Documents are read in the order of their dates. The names found in earlier documents are shown as
preferred names with later ones, so a request depends on earlier answers only and an interrupted
run resumes from the store. Source: TIDE sections 2.3 and A.8.2.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import Any

from scripts.files import DataError, iterate_jsonl
from scripts.inference.schemas import object_schema
from scripts.records import RecordError, Request
from scripts.tide.construction.construction_prompts import ConstructionPrompts
from scripts.tide.construction.construction_report import ReportRow, Status
from scripts.tide.construction.generator import Ask
from scripts.tide.construction.provisions import documents_in_order, fence, shown
from scripts.tide.construction.replies import (
    clean,
    read_reply,
    shape_problem,
    text_problem,
)
from scripts.tide.rows import Element, EntityRow

#: Names of earlier documents that are shown at most, the most used first.
KNOWN_NAMES = 300
NAME_CHARACTERS = 200
CONCEPT_CHARACTERS = 1500
#: Entities of an element, concepts of an entity, and sub-entities of an entity that are read.
MOST_ENTITIES, MOST_CONCEPTS, MOST_SUB_ENTITIES = 200, 20, 40

_TEXT = {"type": "string"}
ENTITY_SCHEMA = object_schema(
    {
        "entities": {
            "type": "array",
            "maxItems": MOST_ENTITIES,
            "items": object_schema(
                {
                    "name": _TEXT,
                    "concepts": {"type": "array", "items": _TEXT, "maxItems": MOST_CONCEPTS},
                }
            ),
        }
    }
)
SUB_ENTITY_SCHEMA = object_schema(
    {
        "entities": {
            "type": "array",
            "maxItems": MOST_ENTITIES,
            "items": object_schema(
                {
                    "index": {"type": "integer"},
                    "sub_entities": {
                        "type": "array",
                        "maxItems": MOST_SUB_ENTITIES,
                        "items": object_schema({"name": _TEXT, "concept": _TEXT}),
                    },
                }
            ),
        }
    }
)

Entity = dict[str, Any]


def extract(
    elements: Sequence[Element],
    prompts: ConstructionPrompts,
    ask: Ask,
    decoding: Mapping[str, Any],
) -> tuple[list[EntityRow], list[ReportRow]]:
    """Ask for the entities of all elements, then for their sub-entities.

    Returns a row an element, in the order of the elements, and a report: a reply that cannot be
    used leaves its element without entities and says why.
    """
    found: dict[str, list[Entity]] = {}
    report: list[ReportRow] = []
    known: Counter[str] = Counter()
    for document in documents_in_order(elements):
        preferred = preferred_names(known)
        first = [_entity_request(each, preferred, prompts, decoding) for each in document]
        for element, response in zip(document, ask(first), strict=True):
            value, reason = read_reply(response, ENTITY_SCHEMA)
            found[element.element_id], dropped = checked_entities(
                value["entities"] if value else [], element.element_id
            )
            report += [_outcome("entities", element, value, reason, found), *dropped]
        with_entities = [each for each in document if found[each.element_id]]
        second = [
            _sub_entity_request(each, found[each.element_id], prompts, decoding)
            for each in with_entities
        ]
        for element, response in zip(with_entities, ask(second), strict=True):
            value, reason = read_reply(response, SUB_ENTITY_SCHEMA)
            report += _add_sub_entities(element, found[element.element_id], value, reason)
        known.update(each["name"] for e in document for each in found[e.element_id])
    return [EntityRow(e.element_id, found[e.element_id]) for e in elements], report


def preferred_names(known: Mapping[str, int]) -> list[str]:
    """The names used most, at most `KNOWN_NAMES`; equally used ones in alphabetical order."""
    return sorted(known, key=lambda name: (-known[name], name))[:KNOWN_NAMES]


def _entity_request(
    element: Element,
    preferred: Sequence[str],
    prompts: ConstructionPrompts,
    decoding: Mapping[str, Any],
) -> Request:
    level = prompts.levels.get(element.document_type)
    if level is None:
        raise DataError(
            f"element {element.element_id}: document type {element.document_type!r}; known: "
            f"{', '.join(prompts.levels)}; correct it in the manifest of the corpus"
        )
    values = {
        "level": level.strip(),
        "known": "\n".join(f"- {name}" for name in preferred) or "(none yet)",
        "document": element.document,
        "date": element.document_date or "undated",
        "title": clean(shown(element.title)) or "(none)",
        "text": fence(shown(element.text)),
    }
    return Request.create(
        element.element_id,
        {"purpose": "entities"},
        prompts.messages("entities", values),
        dict(decoding),
        ENTITY_SCHEMA,
    )


def _sub_entity_request(
    element: Element,
    entities: Sequence[Entity],
    prompts: ConstructionPrompts,
    decoding: Mapping[str, Any],
) -> Request:
    listed = [
        "\n".join([f"{number}. {each['name']}", *(f"   - {c}" for c in each["concepts"])])
        for number, each in enumerate(entities, start=1)
    ]
    values = {
        "entities": "\n".join(listed),
        "document": element.document,
        "date": element.document_date or "undated",
        "text": fence(shown(element.text)),
    }
    return Request.create(
        element.element_id,
        {"purpose": "sub_entities"},
        prompts.messages("sub_entities", values),
        dict(decoding),
        SUB_ENTITY_SCHEMA,
    )


def _outcome(
    step: str,
    element: Element,
    value: Mapping[str, Any] | None,
    reason: str,
    found: Mapping[str, Sequence[Entity]],
) -> ReportRow:
    if value is None:
        return ReportRow(step, element.element_id, "unusable", reason)
    return ReportRow(step, element.element_id, "ok" if found[element.element_id] else "empty")


def checked_entities(
    given: Iterable[Mapping[str, Any]], element_id: str
) -> tuple[list[Entity], list[ReportRow]]:
    """Entities with clean names and concepts, equal names joined; what was dropped, and why.

    Concepts are sentences: one that cannot be kept is dropped alone, a bad name with all it has.
    """
    entities: dict[str, Entity] = {}
    report: list[ReportRow] = []

    def keep(text: str, limit: int, what: str) -> str | None:
        if problem := text_problem(text, limit):
            report.append(ReportRow("entities", element_id, "dropped", f"{what} {problem}"))
            return None
        return clean(text)

    for each in given:
        name = keep(each["name"], NAME_CHARACTERS, "name")
        if name is None:
            continue
        entity = entities.setdefault(name, {"name": name, "concepts": [], "sub_entities": []})
        for text in each["concepts"]:
            concept = keep(text, CONCEPT_CHARACTERS, f"a concept of {name!r}")
            if concept is not None and concept not in entity["concepts"]:
                entity["concepts"].append(concept)
        for sub in each.get("sub_entities", ()):
            sub_name = keep(sub["name"], NAME_CHARACTERS, f"a sub-entity of {name!r}")
            concept = keep(sub["concept"], CONCEPT_CHARACTERS, f"a concept under {name!r}")
            if (
                sub_name
                and concept
                and not any(sub_name == known["name"] for known in entity["sub_entities"])
            ):
                entity["sub_entities"].append({"name": sub_name, "concept": concept})
    return list(entities.values()), report


def _add_sub_entities(
    element: Element, entities: list[Entity], value: Mapping[str, Any] | None, reason: str
) -> list[ReportRow]:
    """Put the sub-entities of a reply under their entities; the report of it."""
    step, subject = "sub_entities", element.element_id
    if value is None:
        return [ReportRow(step, subject, "unusable", reason)]
    report: list[ReportRow] = []
    for each in value["entities"]:
        if not 1 <= each["index"] <= len(entities):
            report.append(ReportRow(step, subject, "dropped", f"no subject {each['index']}"))
            continue
        entity = entities[each["index"] - 1]
        [checked], dropped = checked_entities([{**entity, **each}], subject)
        report += [ReportRow(step, subject, "dropped", row.reason) for row in dropped]
        known = {sub["name"] for sub in entity["sub_entities"]}
        entity["sub_entities"] += [s for s in checked["sub_entities"] if s["name"] not in known]
    some = any(entity["sub_entities"] for entity in entities)
    return [ReportRow(step, subject, "ok" if some else "empty"), *report]


# Shipped --------------------------------------------------------------------------------------

_SHIPPED_SCHEMA = object_schema(
    {
        "element_id": _TEXT,
        "entities": {
            "type": "array",
            "items": object_schema(
                {
                    "name": _TEXT,
                    "concepts": {"type": "array", "items": _TEXT},
                    "sub_entities": {
                        "type": "array",
                        "items": object_schema({"name": _TEXT, "concept": _TEXT}),
                    },
                }
            ),
        },
    }
)


def shipped_rows(
    elements: Sequence[Element], path: Path | str
) -> tuple[list[EntityRow], list[ReportRow]]:
    """The rows of a shipped file, one an element, in the order of the elements.

    An element that the file leaves out has no entities and is reported as absent. Raises DataError
    naming file and line for an unknown element, a doubled row, and anything of another shape.
    """
    wanted = {element.element_id for element in elements}
    rows: dict[str, EntityRow] = {}
    for number, row in iterate_jsonl(path):
        where = f"{path}, line {number}"
        if problem := shape_problem(row, _SHIPPED_SCHEMA):
            raise DataError(f"{where}: {problem}; correct the row")
        element_id = row["element_id"]
        if element_id not in wanted:
            raise DataError(
                f"{where}: no element {element_id!r} in the corpus; its number may have changed: "
                "correct or remove the row"
            )
        if element_id in rows:
            raise DataError(f"{where}: element {element_id} stands twice; join the two rows")
        entities, dropped = checked_entities(row["entities"], element_id)
        if dropped:
            raise DataError(f"{where}: {dropped[0].reason}; correct it")
        rows[element_id] = EntityRow(element_id, entities)
    report = [
        ReportRow("entities", e.element_id, _shipped_status(rows.get(e.element_id)))
        for e in elements
    ]
    return [rows.get(e.element_id) or EntityRow(e.element_id, []) for e in elements], report


def _shipped_status(row: EntityRow | None) -> Status:
    if row is None:
        return "absent"
    return "ok" if row.entities else "empty"


def surface_forms(rows: Iterable[EntityRow]) -> dict[str, list[str]]:
    """Every name of an entity or sub-entity with its concepts, all sorted: the universe of names.

    Raises RecordError for an entity without a name.
    """
    forms: dict[str, set[str]] = {}
    for row in rows:
        for entity in row.entities:
            if not isinstance(entity.get("name"), str):
                raise RecordError(f"entities of {row.element_id}: an entity without a name")
            forms.setdefault(entity["name"], set()).update(entity["concepts"])
            for sub in entity["sub_entities"]:
                forms.setdefault(sub["name"], set()).add(sub["concept"])
    return {name: sorted(forms[name]) for name in sorted(forms)}
