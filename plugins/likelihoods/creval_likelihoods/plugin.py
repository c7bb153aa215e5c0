"""Registers the components for log-likelihoods, and the core's providers that support them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from creval.plugin import hookimpl, params

if TYPE_CHECKING:
    from creval.plugin import Registry

__all__ = ["creval_components"]

_HOME = "creval_likelihoods.likelihood_scores"
_BINARY = "0/1"


@hookimpl
def creval_components(registry: Registry) -> None:
    """Register providers, a protocol, scorers, an aggregation and a baseline."""
    for name in ("chat", "hosted_vllm", "openai"):
        target = f"creval_likelihoods.completions:{name}"
        registry.add("likelihoods", name, target, "log-likelihoods over the completions protocol")
    either = {"type": ["object", "string"], "required": ["label", "text"], "minLength": 1}
    named = params.list_of(params.text(1), minimum=1)
    registry.add(
        "protocol",
        "choices",
        "creval_likelihoods.choices:Choices",
        "the log-likelihood of each given choice after the prompt, or of the prompt as a whole",
        parameters=params.schema(
            choices=params.either(params.text(1), params.list_of(either, minimum=1), about="a field, or the choices"),
            labels=params.either(params.text(1), named, about="a field with their labels, or the labels"),
            delimiter=params.text(about="what stands between the prompt and a choice"),
            output=params.one_of("loglikelihood", "loglikelihood_rolling", about="of choices, or of the whole prompt"),
            context_length=params.integer(3, about="the most tokens of context and continuation, and one more"),
            prefix=params.text(1, about="the text before the first token where there is no context"),
        ),
        positional="choices",
        prompts=("prompt",),
        loglikelihood=True,
    )
    _register_scorers(registry)
    registry.add(
        "aggregation", "perplexity", f"{_HOME}:PerplexityMean", "exp of the mean of minus log-likelihoods, by weight"
    )
    registry.add(
        "baseline",
        "any_choice",
        "creval_likelihoods.choices:AnyChoice",
        "one of the choices of the protocol `choices`, at random",
    )


def _register_scorers(registry: Registry) -> None:
    field = params.schema(field=params.text(1))
    norms = ("acc", "acc_norm", "acc_norm_bytes", "acc_norm_tokens")
    registry.add(
        "scorer",
        "likeliest_choice",
        f"{_HOME}:LikeliestChoice",
        "1 where the likeliest choice is the doc's target",
        parameters=field,
        positional="field",
        produces=norms,
        ranges=dict.fromkeys(norms, _BINARY),
    )
    registry.add(
        "scorer",
        "choice_mass",
        f"{_HOME}:ChoiceMass",
        "the share of the right choices in the probability of all",
        parameters=field,
        positional="field",
        produces=("choice_mass",),
        ranges={"choice_mass": (0, 1)},
    )
    registry.add(
        "scorer",
        "first_token",
        f"{_HOME}:FirstToken",
        "1 where the most probable label as first token is the doc's target",
        parameters=params.schema(field=params.text(1), labels=params.text(1)),
        positional="field",
        produces=("first_token", "first_token_probability", "first_token_mass"),
        ranges={"first_token": _BINARY, "first_token_probability": (0, 1), "first_token_mass": (0, 1)},
    )
    registry.add(
        "scorer",
        "perplexity",
        f"{_HOME}:Perplexity",
        "how improbable a text is by word and byte; the lower, the better it is predicted",
        parameters=field,
        positional="field",
        produces=("word_nll", "byte_nll", "bits_per_byte", "words", "bytes"),
        ranges=dict.fromkeys(("word_nll", "byte_nll", "bits_per_byte", "words", "bytes"), (0, None)),
    )
