"""What is sent to the reconciliation service, and answered: the names are those of the Reconciliation Service API."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter

from armarium.api import Message


@dataclass(frozen=True)
class Condition:
    """A property that a candidate should have, with one of the *values*, with all, or with none of them."""

    property: str
    values: tuple[str, ...]
    quantifier: Literal["any", "all", "none"] = "any"
    required: bool = False


@dataclass(frozen=True)
class Question:
    """What is asked for: a name, an id or properties, among entities of some types."""

    name: str = ""
    ids: tuple[str, ...] = ()
    types: tuple[str, ...] = ()
    only_these_types: bool = True
    """Whether others are no candidates either where there is none of these types."""
    conditions: tuple[Condition, ...] = ()
    limit: int = 10


MOST_QUESTIONS = 100
MOST_CANDIDATES = 100
MOST_ROWS = 1_000
SHORT = 1_000

Text = Annotated[str, Field(max_length=SHORT)]
Scalar = str | float | bool


class Sent(BaseModel):
    """What another program sends; what is not known here is left aside, as the interface asks."""

    model_config = ConfigDict(extra="ignore")


class NamedValue(Sent):
    """Something with an id."""

    id: Text
    name: Text = ""


Values = Annotated[list[NamedValue | Scalar], Field(max_length=100)] | NamedValue | Scalar


def _read_texts(values: Any) -> tuple[str, ...]:
    listed = values if isinstance(values, list) else [values]
    return tuple(value.name or value.id if isinstance(value, NamedValue) else str(value) for value in listed)


class PropertyAsked(Sent):
    """A property that a candidate should have (0.2)."""

    pid: Text
    v: Values


class NameQuery(Sent):
    """A question of the interface 0.2."""

    query: Text = ""
    type: Annotated[list[Text], Field(max_length=100)] | Text | None = None
    limit: Annotated[int, Field(ge=1)] = 10
    properties: Annotated[list[PropertyAsked], Field(max_length=50)] = []
    type_strict: Literal["any", "should", "all"] = "any"

    def question(self) -> Question:
        """Return it as it is looked for; an entity has one type, so that of several each will do."""
        types = [self.type] if isinstance(self.type, str) else self.type or []
        conditions = tuple(Condition(prop.pid, _read_texts(prop.v)) for prop in self.properties)
        return Question(
            self.query,
            types=tuple(filter(None, types)),
            only_these_types=self.type_strict != "should",
            conditions=conditions,
            limit=min(self.limit, MOST_CANDIDATES),
        )


class ConditionAsked(Sent):
    """A condition of the draft of 1.0."""

    matchType: Literal["name", "id", "property"]
    propertyId: Text = ""
    propertyValue: Values
    required: bool = False
    matchQuantifier: Literal["any", "all", "none"] = "any"


class DraftQuery(Sent):
    """A question of the draft of 1.0."""

    type: Text | None = None
    limit: Annotated[int, Field(ge=1)] = 10
    conditions: Annotated[list[ConditionAsked], Field(min_length=1, max_length=50)]

    def question(self) -> Question:
        """Return it as it is looked for."""
        texts: dict[str, list[str]] = {"name": [], "id": []}
        conditions = []
        for condition in self.conditions:
            values = _read_texts(condition.propertyValue)
            if condition.matchType == "property":
                fields = (condition.propertyId, values, condition.matchQuantifier, condition.required)
                conditions.append(Condition(*fields))
            else:
                texts[condition.matchType] += values
        types = (self.type,) if self.type else ()
        limit = min(self.limit, MOST_CANDIDATES)
        return Question(
            " ".join(texts["name"]),
            tuple(texts["id"]),
            types,
            conditions=tuple(conditions),
            limit=limit,
        )


QUERIES: TypeAdapter[dict[str, NameQuery]] = TypeAdapter(
    Annotated[dict[Text, NameQuery], Field(max_length=MOST_QUESTIONS)]
)


class DraftQueries(Sent):
    """Questions of the draft of 1.0."""

    queries: Annotated[list[DraftQuery], Field(max_length=MOST_QUESTIONS)]


class WantedProperty(Sent):
    """A property to be answered of each entity, at most so many values of it."""

    id: Text
    settings: dict[str, Any] = {}

    @property
    def limit(self) -> int:
        """The most values; 0: all."""
        try:
            return max(0, int(self.settings.get("limit") or 0))
        except (TypeError, ValueError, OverflowError):
            return 0


class ExtendEntities(Sent):
    """Which properties of which entities are asked for."""

    ids: Annotated[list[Text], Field(max_length=MOST_ROWS)]
    properties: Annotated[list[WantedProperty], Field(max_length=50)]


class NamedKind(Message):
    """A type or a property."""

    id: str
    name: str


class ScoreFeature(Message):
    """What a score is made of."""

    id: str
    name: str
    value: float


class ReconciliationCandidate(Message):
    """An entity that may be meant; the score goes from 0 to 100."""

    id: str
    name: str
    description: str | None = None
    type: list[NamedKind]
    score: float
    match: bool
    features: list[ScoreFeature]


class CandidatesOfQuery(Message):
    """The candidates for one question, the best first."""

    candidates: list[ReconciliationCandidate]


class DraftResults(Message):
    """The candidates for each question, in the order of the questions."""

    results: list[CandidatesOfQuery]


class ReconciliationSuggestion(Message):
    """Something that begins as asked for."""

    id: str
    name: str
    description: str | None = None
    notable: list[NamedKind] | None = None


class ReconciliationSuggestions(Message):
    """Suggestions for a beginning, by name."""

    result: list[ReconciliationSuggestion]


class ProposedProperties(Message):
    """Properties that entities of a type can be asked for."""

    type: str | None
    properties: list[NamedKind]


class ValuesOfProperty(Message):
    """The values of one property: `{str}`, `{date}`, `{int}` or `{id, name}` each."""

    id: str
    values: list[dict[str, str | int]]


class PropertiesOfEntity(Message):
    """The properties of one entity."""

    id: str
    properties: list[ValuesOfProperty]


class DraftExtended(Message):
    """The properties asked for, and their values for each entity."""

    meta: list[NamedKind]
    rows: list[PropertiesOfEntity]
