"""How long a server asks to wait, in every form that providers use."""

from __future__ import annotations

import json
from datetime import UTC, datetime
from email.utils import format_datetime
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from creval.models.providers.failures import Caller, error_of, explain
from creval.models.providers.requested_waits import duration, requested_wait

NOW = 1_700_000_000.0


def date(seconds: float) -> str:
    return format_datetime(datetime.fromtimestamp(NOW + seconds, UTC), usegmt=True)


HEADERS: list[tuple[dict[str, str], float | None]] = [
    ({"Retry-After": "7"}, 7.0),
    ({"retry-after": " 2.5 "}, 2.5),
    ({"Retry-After": date(42)}, 42.0),
    ({"Retry-After": "0"}, 0.001),
    ({"Retry-After": "-5"}, 0.001),
    ({"Retry-After": date(-42)}, 0.001),
    ({"Retry-After": "soon"}, None),
    ({"Retry-After": ""}, None),
    ({"Retry-After": "nan"}, None),
    ({"Retry-After": "Wed, 99 Foo 2026"}, None),
    ({"Retry-After": "34s"}, 34.0),
    ({"retry-after-ms": "1500"}, 1.5),
    ({"retry-after-ms": "250.5", "Retry-After": "1"}, 0.2505),
    ({"retry-after-ms": "x", "Retry-After": "3"}, 3.0),
    ({"x-ms-retry-after-ms": "900"}, 0.9),
    ({"X-RateLimit-Reset-After": "12.5"}, 12.5),
    ({"x-ratelimit-reset-requests": "1s"}, 1.0),
    ({"x-ratelimit-reset-tokens": "6m0s"}, 360.0),
    ({"x-ratelimit-reset-tokens": "7.66s"}, 7.66),
    ({"x-ratelimit-reset-requests": "120ms"}, 0.12),
    ({"x-ratelimit-reset-requests": "2m59.56s"}, 179.56),
    ({"x-ratelimit-reset-requests": "1h0m1s"}, 3601.0),
    ({"x-ratelimit-reset-tokens-minute": "12"}, 12.0),
    ({"x-ratelimit-reset": str(NOW + 55)}, 55.0),
    ({"X-RateLimit-Reset": str(int((NOW + 30) * 1000))}, 30.0),
    ({"x-ratelimit-reset": "24"}, 24.0),
    ({"X-RateLimit-Reset": str(int((NOW + 55.5) * 1_000_000))}, 55.5),
    ({"X-RateLimit-Reset": str(int((NOW + 30) * 1_000_000_000))}, 30.0),
    ({"x-ratelimit-reset": date(40)}, 40.0),
    ({"x-ratelimit-reset-tokens": "PT34S"}, 34.0),
    ({"x-ratelimit-reset-tokens": "PT1H2M3.5S"}, 3723.5),
    ({"x-ratelimit-reset-tokens": "PT"}, None),
    ({"x-ratelimit-reset-tokens": "00:00:34"}, 34.0),
    ({"x-ratelimit-reset-tokens": "1:02:03.5"}, 3723.5),
    ({"x-ratelimit-reset-tokens": "1m30"}, None),
    ({"anthropic-ratelimit-unified-reset": str(int(NOW + 40))}, 40.0),
    ({"RateLimit-Reset": "24"}, 24.0),
    ({"RateLimit": "limit=100, remaining=0, reset=5"}, 5.0),
    ({"RateLimit": '"default";r=0;t=8'}, 8.0),
    ({"anthropic-ratelimit-requests-reset": datetime.fromtimestamp(NOW + 20, UTC).isoformat()}, 20.0),
    ({"anthropic-ratelimit-tokens-reset": "2023-11-14T22:13:50Z"}, 30.0),
    (
        {
            "x-ratelimit-remaining-requests": "59",
            "x-ratelimit-reset-requests": "1s",
            "x-ratelimit-remaining-tokens": "0",
            "x-ratelimit-reset-tokens": "34s",
        },
        34.0,
    ),
    ({"x-ratelimit-reset-requests": "8.64s", "x-ratelimit-reset-tokens": "1m"}, 8.64),
    ({"retry-after": "3", "x-ratelimit-reset-tokens": "60s"}, 3.0),
    ({"x-ratelimit-limit-requests": "60"}, None),
    ({}, None),
]
GEMINI = {
    "error": {
        "code": 429,
        "message": "You exceeded your current quota, please check your plan. Please retry in 34.074824224s.",
        "status": "RESOURCE_EXHAUSTED",
        "details": [
            {"@type": "type.googleapis.com/google.rpc.QuotaFailure", "violations": [{"quotaValue": "15"}]},
            {"@type": "type.googleapis.com/google.rpc.RetryInfo", "retryDelay": "34s"},
        ],
    }
}
BODIES: list[tuple[Any, float | None]] = [
    (GEMINI, 34.0),
    ([GEMINI], 34.0),
    ({"error": {"message": json.dumps(GEMINI), "code": 429}}, 34.0),
    ({"error": {"message": "Please retry in 34 s"}}, 34.0),
    ([{"error": {"message": "Please retry in 34 s"}}], 34.0),
    ({"error": {"message": "Please retry in 34.074824224s."}}, 34.074824224),
    ({"error": {"message": "Rate limit reached: Limit 30000, Used 29000. Please try again in 7m12s. Visit x"}}, 432.0),
    ({"error": {"message": "Please try again in 294ms."}}, 0.294),
    ({"error": {"message": "Please try again in 1m26.4s."}}, 86.4),
    ({"error": {"message": "Please retry after 34 seconds. To increase your default rate limit visit"}}, 34.0),
    ({"error": {"message": "Try again in 2 minutes"}}, 120.0),
    ({"error": {"message": "Too many requests, wait for 1 minute and 5 seconds."}}, 65.0),
    ({"error": {"message": "Rate limited. Retry after: 12 sec"}}, 12.0),
    ({"error": {"message": "limit resets in 1 hour"}}, 3600.0),
    ({"error": {"message": "slow down", "retry_after": 4}}, 4.0),
    ({"error": {"message": "slow down", "retry_after_ms": 400}}, 0.4),
    ({"detail": "slow down", "retryAfter": "9"}, 9.0),
    ({"error": {"metadata": {"headers": {"X-RateLimit-Reset": str(int((NOW + 30) * 1000))}}}}, 30.0),
    ({"error": {"metadata": {"headers": {"Retry-After": "5"}}}}, 5.0),
    ({"error": {"metadata": {"retry_after_seconds": 6.5}}}, 6.5),
    ("Too many requests. Please try again in 3s", 3.0),
    ({"error": {"message": "Wait 5 seconds"}}, 5.0),
    ({"error": {"message": "Please wait 30s and try again"}}, 30.0),
    ({"error": {"message": "Rate limited for 30 seconds"}}, 30.0),
    ({"error": {"message": "Try again after 2023-11-14T22:14:00Z"}}, 40.0),
    ({"error": {"message": "Your limit will reset at 2023-11-14 22:14:00 UTC."}}, 40.0),
    ({"error": {"message": "Blocked, wait until 2023-11-14T23:14:00+01:00"}}, 40.0),
    ("请在 34 秒后重试", 34.0),
    ({"error": {"details": [{"retryDelay": {"seconds": 34, "nanos": 5}}]}}, 34.0),
    ("429 quota exceeded [retry_delay {\n  seconds: 34\n}\n]", 34.0),
    ('{"retry_delay": {"seconds": 21}}', 21.0),
    ({"error": {"message": "Too many requests. Retry-After: 34"}}, 34.0),
    ({"error": {"message": "Please retry in 34."}}, 34.0),
    ({"error": {"message": "retryAfter=34"}}, 34.0),
    ({"error": {"message": f"Retry after {NOW + 34:.0f}"}}, 34.0),
    ({"error": {"message": "Please wait a minute"}}, 60.0),
    ({"error": {"message": "Please try again in one minute."}}, 60.0),
    ({"error": {"retry_after_millis": 34000}}, 34.0),
    ({"error": {"resets_in_seconds": 34}}, 34.0),
    ({"error": {"resets_at": NOW + 34}}, 34.0),
    ({"error": {"reset_time": "2023-11-14T22:14:00Z"}}, 40.0),
    ({"error": {"message": "retry after 3 failed attempts"}}, None),
    ({"error": {"message": "Please wait a few minutes"}}, None),
    ({"error": {"message": "no retry after 5 tries: see rule 7"}}, None),
    ({"error": {"message": "try again in a while"}}, None),
    ({"error": {"message": "3 tries in 5 seconds are too many"}}, None),
    ({"error": {"message": "slow down"}}, None),
]

MORE_HEADERS: list[tuple[dict[str, str], float | None]] = [
    ({"retry-after": "1m"}, 60),
    ({"Retry-After": "34 s"}, 34),
    ({"Retry-After": "34 seconds"}, 34),
    ({"Retry-After": "500ms"}, 0.5),
    ({"Retry-After-Ms": "34000"}, 34),
    ({"retry-after-ms": "34000ms"}, 34),
    ({"X-Retry-After": "34"}, 34),
    ({"x-ratelimit-reset-requests": "34"}, 34),
    ({"x-ratelimit-reset-requests": "34.5"}, 34.5),
    ({"x-ratelimit-reset-tokens": "2023-11-14T22:13:54Z"}, 34),
    ({"x-ratelimit-reset": "2023-11-14T22:13:54Z"}, 34),
    ({"X-Rate-Limit-Reset": "1700000034"}, 34),
    ({"x-rate-limit-reset": "34"}, 34),
    ({"ratelimit-reset": "1700000034"}, 34),
    ({"x-ratelimit-reset-requests": "34000ms"}, 34),
    ({"x-ratelimit-reset-requests": "1m0.5s"}, 60.5),
    ({"x-ratelimit-reset-requests": "1d"}, 86400),
    ({"anthropic-ratelimit-input-tokens-reset": "2023-11-14T22:13:40Z"}, 20),
    ({"anthropic-ratelimit-output-tokens-reset": "2023-11-14T22:13:41Z"}, 21),
    ({"RateLimit": '"requests";r=0;t=34'}, 34),
    ({"RateLimit": "limit=10, remaining=0, reset=34"}, 34),
    ({"x-ms-retry-after-ms": "34000"}, 34),
    ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.001),
    ({"x-ratelimit-reset-tokens-minute": "34s"}, 34),
    ({"x-ratelimit-reset-requests-day": "1h"}, 3600),
    ({"x-ratelimit-reset-input-tokens": "34s"}, 34),
    ({"x-envoy-ratelimited": "true"}, None),
    ({"x-ratelimit-reset-in": "34"}, 34),
    ({"cf-retry-after": "3"}, None),
    ({"Retry-After": "１２"}, 12),
    ({"Retry-After": "1e3"}, 1000),
    ({"Retry-After": "inf"}, None),
]
MORE_BODIES: list[tuple[Any, float]] = [
    ({"error": {"message": "Please try again in 34 seconds."}}, 34.0),
    ({"error": {"message": "Please retry in 1h2m3s"}}, 3723.0),
    ({"error": {"message": "Retry in 34.5s"}}, 34.5),
    ({"error": {"message": "Try again in 34 secs"}}, 34.0),
    ({"error": {"message": "try again after 34 seconds"}}, 34.0),
    ({"error": {"message": "retry after 34s"}}, 34.0),
    ({"error": {"message": "Rate limit exceeded, retry after 34 seconds"}}, 34.0),
    ({"error": {"message": "Wait 34s before retrying"}}, 34.0),
    ({"error": {"message": "please wait 34 seconds"}}, 34.0),
    ({"error": {"message": "You must wait 2 minutes and 4 seconds"}}, 124.0),
    ({"error": {"message": "Retry after 1 minute"}}, 60.0),
    ({"error": {"message": "available in 34 seconds"}}, 34.0),
    ({"error": {"message": "Resets in 34s"}}, 34.0),
    ({"error": {"message": "reset in 34 seconds"}}, 34.0),
    ({"error": {"message": "Rate limit will reset in 34 seconds"}}, 34.0),
    ({"error": {"message": "Limit resets at 2023-11-14T22:13:54Z"}}, 34.0),
    ({"error": {"message": "quota will be restored in 34 seconds"}}, 34.0),
    ({"error": {"message": "retry_after: 34"}}, 34.0),
    ({"error": {"message": '"retry_after": 34'}}, 34.0),
    ({"error": {"message": "Too many requests: cooldown 34s"}}, 34.0),
    ({"error": {"message": "cooling down for 34 seconds"}}, 34.0),
    ({"error": {"message": "backoff of 34 seconds"}}, 34.0),
    ({"error": {"message": "Expected available in 34 seconds."}}, 34.0),
    ({"error": {"message": "please slow down; retry in about 34 seconds"}}, 34.0),
    ({"error": {"message": "Try again in approximately 34 seconds"}}, 34.0),
    ({"error": {"message": "Try again in less than 1 minute"}}, 60.0),
    ({"error": {"message": "Bitte versuchen Sie es in 34 Sekunden erneut"}}, 34.0),
    ({"error": {"message": "Réessayez dans 34 secondes"}}, 34.0),
    ({"error": {"message": "Inténtalo de nuevo en 34 segundos"}}, 34.0),
    ({"error": {"message": "34秒后重试"}}, 34.0),
    ({"error": {"message": "請在34秒後重試"}}, 34.0),
    ({"error": {"message": "34秒後に再試行してください"}}, 34.0),
    ({"error": {"message": "Retry in 34sec"}}, 34.0),
    ({"error": {"message": "Retry-After=34s"}}, 34.0),
    ({"error": {"message": "next request allowed in 34 s"}}, 34.0),
    ({"error": {"message": "You can retry in PT34S"}}, 34.0),
    ({"error": {"retryDelay": "34s"}}, 34),
    ({"error": {"details": [{"retryDelay": "34.5s"}]}}, 34.5),
    ([{"error": {"details": [{"retryDelay": "34s"}]}}], 34),
    ({"error": {"details": [{"retry_delay": {"seconds": 34}}]}}, 34),
    ({"retry_after": 34}, 34),
    ({"retry_after_ms": 34000}, 34),
    ({"retry-after": 34}, 34),
    ({"error": {"retryAfterMs": 34000}}, 34),
    ({"error": {"retryAfterSeconds": 34}}, 34),
    ({"error": {"wait": 34}}, 34),
    ({"error": {"wait_seconds": 34}}, 34),
    ({"error": {"reset_after": 34}}, 34),
    ({"error": {"resetAt": "2023-11-14T22:13:54Z"}}, 34),
    ({"error": {"x": {"retry_after": "34s"}}}, 34),
    ({"detail": {"retry_after": 34}}, 34),
    ({"errors": [{"retry_after": 34}]}, 34),
    ({"error": {"metadata": {"raw": '{"error": {"message": "Please retry in 34s"}}'}}}, 34),
    ({"message": "Please retry in 34s"}, 34),
    ({"detail": "Please retry in 34s"}, 34),
    ({"error": "Please retry in 34s"}, 34),
    ({"errors": ["Please retry in 34s"]}, 34),
    ({"error": {"code": 429, "message": "x", "retry_in": "34s"}}, 34),
    ({"error": {"next_retry_at": "2023-11-14T22:13:54Z"}}, 34),
    ({"error": {"ratelimit_reset": 1700000034.0}}, 34),
]


@pytest.mark.parametrize(("headers", "seconds"), [*HEADERS, *MORE_HEADERS])
def test_headers(headers: dict[str, str], seconds: float | None) -> None:
    found = requested_wait(headers, "", NOW)
    assert found is None if seconds is None else found == pytest.approx(seconds)


@pytest.mark.parametrize(("body", "seconds"), [*BODIES, *MORE_BODIES])
def test_bodies(body: Any, seconds: float | None) -> None:
    text = body if isinstance(body, str) else json.dumps(body)
    error = explain(error_of(429, text, {}, NOW), Caller("x", "m"))
    found = getattr(error, "retry_after", None)
    assert found is None if seconds is None else found == pytest.approx(seconds)


def test_a_reset_tells_nothing_of_another_failure() -> None:
    headers = {"x-ratelimit-reset-tokens": "60s", "x-ratelimit-remaining-tokens": "0"}
    assert error_of(500, "{}", headers, NOW).wait is None
    assert error_of(503, "{}", {**headers, "Retry-After": "2"}, NOW).wait == 2.0
    assert error_of(429, "{}", headers, NOW).wait == 60.0


@settings(max_examples=150)
@given(st.dictionaries(st.sampled_from([*(name for h, _ in HEADERS for name in h)]), st.text(max_size=30)), st.text())
def test_any_text_is_read_without_an_error(headers: dict[str, str], text: str) -> None:
    for found in (
        requested_wait(headers, text, NOW),
        duration(text, NOW),
        *(duration(v, NOW) for v in headers.values()),
    ):
        assert found is None or found >= 0


PARTS = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.sampled_from(["34s", "Please retry in 3 s", "x"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["error", "headers", "retry_after", "retryDelay", "Retry-After"]), inner)
    ),
    max_leaves=8,
)


@settings(max_examples=150)
@given(PARTS)
def test_any_body_is_read_without_an_error(body: Any) -> None:
    failure = error_of(429, json.dumps(body), {}, NOW)
    assert failure.wait is None or failure.wait > 0
