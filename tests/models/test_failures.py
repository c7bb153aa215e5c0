"""Which failures are tried again, and what the user is told."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from creval.errors import ContextLengthError, FatalModelError, ModelError, RetryableModelError
from creval.models.providers.failures import Caller, declined, error_of, explain, failure_in, plain_text

CALLER = Caller("openai/m at http://x/v1/chat/completions", "m", "OPENAI_API_KEY", ("sk-secret-1234567890",))


def judge(status: int | None, error: object = None, retry_after: str | None = None) -> ModelError:
    headers = {"Retry-After": retry_after} if retry_after else {}
    body = error if isinstance(error, str) else json.dumps({"error": error or {"message": "m"}})
    return explain(error_of(status, body, headers), CALLER)


@pytest.mark.parametrize("status", [408, 409, 425, 429, 500, 502, 503, 504, 520, 524, 529, None])
def test_what_may_pass_is_tried_again(status: int | None) -> None:
    error = judge(status, retry_after="9")
    assert isinstance(error, RetryableModelError)
    assert (error.http_status, error.retry_after) == (status, 9.0)


@pytest.mark.parametrize("status", [301, 400, 401, 402, 403, 404, 405, 413, 422, 501, 505])
def test_what_will_not_pass_is_fatal_and_has_a_fix(status: int) -> None:
    error = judge(status)
    assert isinstance(error, FatalModelError)
    assert error.fix
    assert error.where == CALLER.where


@pytest.mark.parametrize(("status", "every"), [(401, True), (402, True), (404, True), (403, True), (400, False)])
def test_it_is_said_whether_every_call_would_fail(status: int, every: bool) -> None:
    error = judge(status)
    assert isinstance(error, FatalModelError)
    assert error.every_call is every


def test_a_question_larger_than_the_limit_of_a_minute_is_not_waited_for() -> None:
    said = "Request too large for gpt-4o on tokens per min (TPM): Limit 30000, Requested 39000."
    error = judge(429, {"message": said, "code": "rate_limit_exceeded"})
    assert isinstance(error, ContextLengthError)


def test_an_empty_account_is_fatal_though_it_says_429() -> None:
    error = judge(429, {"message": "You exceeded your quota", "code": "insufficient_quota"})
    assert isinstance(error, FatalModelError)
    assert "credit" in str(error)


def test_wrong_key_names_the_variable_and_hides_the_key() -> None:
    error = judge(401, {"message": "Incorrect API key provided: sk-secret-1234567890"})
    assert "export OPENAI_API_KEY=" in str(error)
    assert "1234567890" not in str(error)


@pytest.mark.parametrize(
    ("error", "name"),
    [
        (
            {
                "message": "Unsupported parameter: 'max_tokens' is not supported with this model.",
                "param": "max_tokens",
                "code": "unsupported_parameter",
            },
            "max_tokens",
        ),
        (
            {
                "message": "Unsupported value: 'temperature' does not support 0.16 with this model.",
                "param": "temperature",
                "code": "unsupported_value",
            },
            "temperature",
        ),
        ({"message": "Unrecognized request argument supplied: top_k"}, "top_k"),
        ({"message": "`logprobs` is not supported by this model"}, "logprobs"),
        ({"message": "openai does not support parameters: ['seed'], for model=m"}, "seed"),
    ],
)
def test_a_refused_parameter_is_one_clear_message_with_its_fix(error: dict[str, str], name: str) -> None:
    reported = judge(400, error)
    assert isinstance(reported, FatalModelError)
    assert reported.every_call
    assert repr(name) in reported.what
    assert f"--generation {name}=null" in str(reported)


def test_a_too_long_question_concerns_that_sample_alone() -> None:
    reported = judge(
        400, {"message": "This model's maximum context length is 8192 tokens", "code": "context_length_exceeded"}
    )
    assert isinstance(reported, ContextLengthError)
    assert not reported.every_call
    assert "too long" in str(reported)


def test_an_answers_limit_that_leaves_no_room_is_too_long_but_where_no_question_would_fit() -> None:
    words = "This model's maximum context length is {} tokens. However, you requested 5000 tokens (1000 in the messages"
    words += ", 4000 in the completion)."
    assert isinstance(judge(400, {"message": words.format(4096)}), ContextLengthError)
    none = judge(400, {"message": words.format(2048)})
    assert isinstance(none, FatalModelError) and not isinstance(none, ContextLengthError)
    assert none.every_call


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (400, {"message": "filtered", "code": "content_filter"}),
        (400, {"message": "x", "innererror": {"code": "ResponsibleAIPolicyViolation"}}),
        (403, {"message": "Your input was flagged by moderation", "code": 403}),
    ],
)
def test_a_content_filter_is_a_refusal(status: int, error: dict[str, object]) -> None:
    assert declined(failure_in(error, status))


def test_other_errors_are_no_refusal() -> None:
    assert not declined(failure_in({"message": "no such model"}, 404))
    assert not declined(failure_in({"message": "the filter service is down: content_filter"}, 500))


def test_a_status_within_the_body_counts() -> None:
    error = explain(failure_in({"message": "slow down", "code": 429}, None), CALLER)
    assert isinstance(error, RetryableModelError)
    assert error.http_status == 429


def test_html_is_recognised_by_its_title() -> None:
    assert plain_text("<!DOCTYPE html><html><head><title>502 Bad Gateway</title></head>") == (
        "an HTML page (502 Bad Gateway)"
    )


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner, max_size=3),
    max_leaves=8,
)


@given(st.sampled_from([200, 302, 400, 403, 429, 500]), json_values | st.fixed_dictionaries({"error": json_values}))
def test_any_body_gives_an_error_of_bounded_length(status: int, body: object) -> None:
    failure = error_of(status, json.dumps(body), {})
    declined(failure)
    assert len(str(explain(failure, CALLER))) < 1000


@given(st.text(max_size=200))
def test_any_text_gives_an_error(body: str) -> None:
    assert isinstance(explain(error_of(400, body, {}), CALLER), ModelError)


def test_a_402_that_names_a_time_to_wait_is_waited_for() -> None:
    error = judge(402, {"message": "The account is on hold"}, retry_after="7")
    assert isinstance(error, RetryableModelError)
    assert error.retry_after == 7.0


def test_a_limit_that_the_credit_does_not_cover_names_the_one_that_it_does() -> None:
    said = "This needs more credits, or fewer max_tokens. You requested up to 65536 tokens, but can only afford 1234."
    for wait in (None, "7"):
        error = judge(402, {"message": said}, retry_after=wait)
        assert isinstance(error, FatalModelError)
        assert (error.every_call, error.closed) == (True, False)
        assert "--generation max_tokens=1234" in str(error)


@pytest.mark.parametrize(
    ("status", "error"),
    [
        (401, {"message": "wrong key"}),
        (402, {"message": "Insufficient credits"}),
        (403, {"message": "Key limit exceeded (monthly limit)", "code": 403}),
        (403, {"message": "You have reached your spending limit"}),
        (429, {"message": "You exceeded your current quota", "code": "insufficient_quota"}),
        (429, {"message": "Your account is not active", "code": "billing_not_active"}),
        (429, {"message": "please pay", "type": "exceeded_current_quota_error"}),
        (400, {"message": "Access denied", "code": "Arrearage"}),
    ],
)
def test_what_concerns_the_account_closes_the_model(status: int, error: dict[str, object]) -> None:
    reported = judge(status, error, retry_after=None)
    assert isinstance(reported, FatalModelError)
    assert reported.closed
    assert reported.every_call


@pytest.mark.parametrize(
    ("status", "error"), [(403, {"message": "no access to this model"}), (404, {"message": "no such model"})]
)
def test_what_concerns_the_model_holds_for_the_task_alone(status: int, error: dict[str, object]) -> None:
    reported = judge(status, error)
    assert isinstance(reported, FatalModelError)
    assert (reported.every_call, reported.closed) == (True, False)


def test_a_firewalls_page_may_be_about_one_question() -> None:
    reported = judge(403, "<html><title>Request blocked</title></html>")
    assert isinstance(reported, FatalModelError)
    assert not reported.every_call


OPENAI = (
    "This model's maximum context length is 4096 tokens. However, you requested {} tokens ({} in the messages, {} in "
    "the completion). Please reduce the length of the messages or completion."
)
VLLM = (
    "'max_tokens' or 'max_completion_tokens' is too large: {2}. This model's maximum context length is 4096 tokens and "
    "your request has {1} input tokens ({2} > 4096 - {1})."
)


@pytest.mark.parametrize("said", [OPENAI, VLLM])
@pytest.mark.parametrize(("asked", "limit", "every"), [(20, 5000, True), (1000, 4000, False)])
def test_a_limit_that_leaves_no_room_is_reported_and_given_up_where_it_holds_for_all(
    said: str, asked: int, limit: int, every: bool
) -> None:
    reported = judge(400, {"message": said.format(asked + limit, asked, limit), "code": "context_length_exceeded"})
    assert isinstance(reported, FatalModelError)
    assert "--generation max_tokens=" in str(reported)
    assert str(limit) in (reported.fix or "")
    assert reported.every_call is every


def test_a_limit_above_the_models_own_holds_for_every_call() -> None:
    reported = judge(
        400, {"message": "max_tokens is too large: 100000. This model supports at most 16384 completion tokens"}
    )
    assert isinstance(reported, FatalModelError)
    assert reported.every_call


@pytest.mark.parametrize("code", [502, "503", 429, 403])
def test_a_content_flag_within_a_reply_of_status_200_is_a_refusal(code: object) -> None:
    error = {"message": "Provider returned error", "code": code, "metadata": {"raw": "blocked by content_filter"}}
    assert declined(failure_in(error, None))
    assert not declined(failure_in({"message": "Provider returned error", "code": code}, None))


def test_an_unknown_setting_that_is_refused_is_named_as_it_was_given() -> None:
    reported = judge(400, {"message": "Unrecognized request argument supplied: top_a"})
    assert "--generation extra.top_a=null" in str(reported)
