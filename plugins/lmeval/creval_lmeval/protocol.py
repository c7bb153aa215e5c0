"""The protocol `lmeval`: makes lm-eval's requests for a document, once per repeat."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from creval.plugin import LoglikelihoodRequest, Message, Session, UsageError
from creval_lmeval.library import Chat, LoadedTask, Settings, load_task

__all__ = ["LmEvalRequests"]

_MAX_TOKENS = 256
"""The default limit of lm-eval's models for servers."""
_SEED = 1234
_GENERATE = "generate_until"
_ROLLING = "loglikelihood_rolling"


@dataclass(frozen=True, slots=True)
class LmEvalRequests:
    """Makes lm-eval's requests. Without a chat template a text is continued unchanged (`chat_template: none`).

    The settings may be varied by conditions. `outcome` contains the log-likelihoods, in the order of the requests.
    """

    task: str
    output: str
    num_fewshot: int | None = None
    apply_chat_template: bool = False
    fewshot_as_multiturn: bool = True
    system_instruction: str | None = None
    tokenizer: str | None = None
    seed: int = _SEED
    sources: str = ""

    async def run(self, session: Session) -> None:
        """Make all requests of a document: log-likelihoods in one call, then generations."""
        settings = self._settings(session.condition.settings)
        loaded = load_task(self.task, self.sources)
        instances = loaded.requests(int(session.doc.id), settings)
        likely = [(place, each) for place, each in enumerate(instances) if each.request_type != _GENERATE]
        found: dict[int, list[Any]] = {}
        for kind in dict.fromkeys(each.request_type for _, each in likely):
            found |= await self._likelihoods(session, kind, [pair for pair in likely if pair[1].request_type == kind])
        if found:
            session.report(likelihoods=[found.get(place) for place in range(len(instances))])
        for each in instances:
            if each.request_type == _GENERATE:
                await self._generate(session, loaded, each.args)
        if len(likely) == len(instances):
            session.answer(_likeliest(found))

    def expected_calls(self, fields: Mapping[str, Any]) -> tuple[int, int | None]:
        """Return the expected calls: one or more per document."""
        return 1, 1 if self.output == _GENERATE else None

    def _settings(self, varied: Mapping[str, Any]) -> Settings:
        own = {name: getattr(self, name) for name in Settings._fields}
        return Settings(**{name: varied.get(name, value) for name, value in own.items()})

    async def _likelihoods(self, session: Session, kind: str, asked: Sequence[tuple[int, Any]]) -> dict[int, list[Any]]:
        """Return log-likelihood and greediness of requests, by index."""
        requests = []
        for place, each in asked:
            context, text = ("", each.args[0]) if kind == _ROLLING else each.args[:2]
            if isinstance(context, Chat):
                raise UsageError(
                    "log-likelihoods in a chat need the chat template as text, which the server does not report",
                    where=session.context.task,
                    fix="Name its tokenizer under `protocol` in a task file: tokenizer: FOLDER.",
                )
            requests.append(LoglikelihoodRequest(context, text, str(place)))
        output: Any = _ROLLING if kind == _ROLLING else "loglikelihood"
        found = await session.loglikelihood(requests, output)
        return {
            place: [each.logprob] if kind == _ROLLING else [each.logprob, each.is_greedy]
            for (place, _), each in zip(asked, found, strict=True)
        }

    async def _generate(self, session: Session, loaded: LoadedTask, arguments: Sequence[Any]) -> None:
        """Generate a text. A truncated, refused or empty one ends the sample, but is scored all the same."""
        context, given = arguments[0], dict(arguments[1])
        in_chat = isinstance(context, Chat)
        settings = _generation(given, in_chat)
        if in_chat:
            messages = [Message(each["role"], each["content"]) for each in context.messages]
            reply = await session.ask(messages, **settings)
        else:
            reply = await session.ask([Message("user", context)], chat_template="none", **settings)
        session.answer(reply.text)


def _generation(given: dict[str, Any], in_chat: bool) -> dict[str, Any]:
    """Return lm-eval's generation settings by their names in the protocols, as its models send them."""
    given.pop("do_sample", None)
    until = given.pop("until", None)
    stops = [until] if isinstance(until, str) else list(until or ())
    limit = given.pop("max_gen_toks", _MAX_TOKENS)
    settings = {"max_tokens": given.pop("max_tokens", limit), "temperature": given.pop("temperature", 0)}
    if stops:
        settings["stop"] = stops[:4] if in_chat else stops  # lm-eval sends a chat's first four
    return {**settings, "seed": _SEED, **given}


def _likeliest(found: Mapping[int, Sequence[Any]]) -> str:
    """Return the index of the most probable text, the first one on a tie."""
    return str(max(sorted(found), key=lambda place: found[place][0]))
