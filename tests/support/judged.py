"""A plugin whose scorer asks a judge about each sample, and a task that uses it."""

from __future__ import annotations

from pathlib import Path

__all__ = ["HOOKS", "PARTS", "write_judged"]

HOOKS = """
    from creval.plugin import hookimpl

    @hookimpl
    def creval_components(registry):
        number = {"type": "object", "properties": {"weight": {"type": "number"}}, "additionalProperties": False}
        registry.add(
            "scorer", "rated", "creval_judged_parts:Rated", produces=("rated", "kind"), parameters=number,
            waits=True, roles=("judge",), prompts=("rate", "kind"), provides=("answer",),
        )
        registry.add("scorer", "size", "creval_judged_parts:Size", produces=("size",))
        registry.add("protocol", "helped", "creval_judged_parts:Helped", roles=("judge",), prompts=("rate",))
"""

PARTS = """
    import asyncio
    from creval.plugin import ModelError, Score, ScoringError

    class Rated:
        '''Two questions a sample; a verdict that is no number is asked once more.'''
        def expected_role_calls(self, fields, expected):
            return {"judge": (2, 4)}

        def __init__(self, weight=1.0):
            self.weight = weight

        async def score(self, items, context):
            return await asyncio.gather(*(self.one(item, context) for item in items))

        async def one(self, item, context):
            rated, kind = await asyncio.gather(*(self.verdict(name, item, context) for name in ("rate", "kind")))
            return Score({"rated": self.weight * rated, "kind": kind})

        async def verdict(self, name, item, context):
            messages = context.prompt(name, item.doc, answer=item.value)
            for _ in range(2):
                reply = await context.ask("judge", messages, item.key)
                try:
                    return float(reply.text)
                except ValueError:
                    context.unreadable(reply, "no number")
            raise ScoringError("the judge gave no number")

    class Size:
        def score(self, items, context):
            return [Score({"size": float(len(item.value))}) for item in items]

    class Helped:
        async def run(self, session):
            for _ in range(2):
                reply = await session.ask(session.prompt("rate", answer="x"), role="judge")
            session.answer(reply.text)
"""

TASK = """\
schema: 1
task: {name}
version: 1.0.0
title: Words, judged
dataset: {{source: file, file: {name}.jsonl, id: id}}
repeats: {repeats}
prompt:
  - {{role: user, content: "Say {{{{ word }}}}"}}
roles:
  judge:
    {model}generation: {{temperature: 0, max_tokens: 8}}
    prompts:
      rate: [{{role: user, content: "Rate {{{{ answer }}}} for {{{{ word }}}}"}}]
      kind: [{{role: user, content: "Kind of {{{{ answer }}}}"}}]
score: [{{rated: {{weight: {weight}}}}}, size]
metrics:
  - {{name: rated, failed: exclude}}
  - {{name: kind, failed: exclude}}
  - {{name: size, failed: zero}}
"""


def write_judged(folder: Path, docs: int = 8, repeats: int = 1, weight: float = 1.0, model: str = "") -> str:
    """Write the task `judged.yaml` and its data; returns its path. `model` is a line `model: ...` of the judge."""
    rows = "".join(f'{{"id": "d{i}", "word": "word{i}"}}\n' for i in range(docs))
    (folder / "judged.jsonl").write_text(rows)
    own = f"model: {model}\n    " if model else ""
    text = TASK.format(name="judged", repeats=repeats, weight=weight, model=own)
    (folder / "judged.yaml").write_text(text)
    return str(folder / "judged.yaml")
