"""The identity of a call: fixed for ever by golden values, and different for every difference that matters."""

from __future__ import annotations

import dataclasses
import math
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import UsageError
from creval.models.cache_key import cache_key, canonical_json
from creval.models.model_options import ModelSpec
from creval.models.provider_traits import ProviderTraits
from creval.types.messages import GenerateRequest, Message, Origin
from creval.types.sample import SampleKey

SPEC = ModelSpec.parse("openai/m")
TRAITS = ProviderTraits(base_url="https://h/v1")
REQUEST = GenerateRequest(
    (Message("system", "Be brief."), Message("user", "Grüße \U0001f600")),
    {"temperature": 1.0, "max_tokens": 16, "stop": ["\n"]},
    Origin(SampleKey("drat", "7", "temperature=1.0", 2), "judge", 3),
    2,
)
# Made once by hand from the documented recipe: printf '%s' '<GOLDEN_JSON>' | sha256sum
GOLDEN_JSON = (
    '{"base_url":"https://h/v1","identity":{},"messages":[{"content":"Be brief.","role":"system"},'
    '{"content":"Gr\\u00fc\\u00dfe \\ud83d\\ude00","role":"user"}],"model":"m","n":2,"provider":"openai",'
    '"sample":["drat","7","temperature=1.0",2,"judge",3],'
    '"settings":{"max_tokens":16,"stop":["\\n"],"temperature":1},"version":1}'
)
GOLDEN_SHA256 = "a8b8b8b33081fee73720ee54ec0b80ab9159e67b710a34d74cda1783b25a075a"


def key(spec: ModelSpec = SPEC, traits: ProviderTraits = TRAITS, **changes: Any) -> str:
    return cache_key(spec, traits, dataclasses.replace(REQUEST, **changes))


def test_golden() -> None:
    assert key() == GOLDEN_SHA256


def origin(**changes: Any) -> Origin:
    sample = {name: changes.pop(name) for name in list(changes) if name in SampleKey._fields}
    return dataclasses.replace(REQUEST.origin, key=REQUEST.origin.key._replace(**sample), **changes)


@pytest.mark.parametrize(
    "other",
    [
        {"spec": ModelSpec.parse("openai/m2")},
        {"spec": ModelSpec.parse("openrouter/m")},
        {"traits": ProviderTraits(base_url="https://other/v1")},
        {"traits": ProviderTraits(base_url="https://h/v1", identity={"sha256": "ab"})},
        {"messages": REQUEST.messages[:1]},
        {"messages": (Message("user", "Be brief."), REQUEST.messages[1])},
        {"settings": {**REQUEST.settings, "temperature": 0.9}},
        {"settings": {**REQUEST.settings, "seed": 1}},
        {"settings": {"temperature": 1.0}},
        {"n": 1},
        {"origin": origin(task="dat")},
        {"origin": origin(doc="8")},
        {"origin": origin(condition="temperature=2.0")},
        {"origin": origin(repeat=3)},
        {"origin": origin(role="target")},
        {"origin": origin(call=4)},
    ],
)
def test_every_difference_makes_another_key(other: dict[str, Any]) -> None:
    assert key(**other) != key()


@pytest.mark.parametrize(
    "same",
    [
        {"settings": {"stop": ["\n"], "max_tokens": 16.0, "temperature": 1}},
        {"settings": {**REQUEST.settings, "seed": None}},
        {"origin": origin(doc="7", call=3)},
    ],
)
def test_what_makes_no_difference_makes_none(same: dict[str, Any]) -> None:
    assert key(**same) == key()


def test_the_doc_of_the_origin_is_no_part_of_it() -> None:
    assert key(origin=dataclasses.replace(REQUEST.origin, doc={"answer": 1})) == key()


@pytest.mark.parametrize("bad", [math.nan, math.inf, object()])
def test_what_is_no_json_is_refused(bad: Any) -> None:
    with pytest.raises(UsageError):
        key(settings={"temperature": bad})


@given(
    st.dictionaries(
        st.text(max_size=5), st.integers() | st.text(max_size=5) | st.floats(allow_nan=False, allow_infinity=False)
    )
)
def test_order_of_keys_is_of_no_account(value: dict[str, Any]) -> None:
    assert canonical_json(value) == canonical_json(dict(reversed(list(value.items()))))
