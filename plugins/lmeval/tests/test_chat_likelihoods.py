"""Log-likelihoods in a chat: the template of a named tokenizer makes the text, as lm-eval's models do it."""

from __future__ import annotations

from pathlib import Path

import pytest
from support.lmeval_server import GeneratingServer

from creval import RunOptions, open_run, run
from creval.errors import CrevalError
from creval_lmeval.library import Settings, load_task

pytest.importorskip("lm_eval", reason="no lm-eval: pip install 'lm-eval==0.4.13' tenacity")
TEMPLATE = (
    "{% for m in messages %}<{{ m.role }}>{{ m.content }}{% if not loop.last or add_generation_prompt %}</end>"
    "{% endif %}{% endfor %}{% if add_generation_prompt %}<assistant>{% endif %}"
)
TASK = """
schema: 1
include: lmeval/piqa
task: piqa_chat
version: 1.0.0
title: PIQA in a chat
protocol: {apply_chat_template: true, num_fewshot: 1, system_instruction: Be brief.TOKENIZER}
"""


@pytest.fixture(scope="module")
def tokenizer(home: Path) -> Path:
    """A folder with a tokenizer of single words, and its chat template."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.WordLevel({"<unk>": 0, "the": 1}, unk_token="<unk>"))
    made.pre_tokenizer = pre_tokenizers.Whitespace()
    fast = PreTrainedTokenizerFast(tokenizer_object=made, unk_token="<unk>", eos_token="<unk>")
    fast.chat_template = TEMPLATE
    fast.save_pretrained(home / "words")
    return home / "words"


@pytest.mark.parametrize("multiturn", [True, False])
def test_contexts_equal_those_of_lm_eval_s_model(multiturn: bool, tokenizer: Path, home: Path) -> None:
    from lm_eval.models.openai_completions import LocalCompletionsAPI

    model = LocalCompletionsAPI("http://127.0.0.1:1/v1/completions", tokenizer=str(tokenizer), model="m")
    loaded = load_task("piqa")
    settings = Settings(2, True, multiturn, "Be brief.", str(tokenizer))
    ours = [each.args for doc in range(6) for each in loaded.requests(doc, settings)]
    task = loaded.task
    task.set_config(key="num_fewshot", value=2)
    task.set_fewshot_seed(seed=1234)
    task.build_all_requests(
        limit=6,
        apply_chat_template=True,
        fewshot_as_multiturn=multiturn,
        system_instruction="Be brief.",
        chat_template=model.apply_chat_template,
    )
    assert ours == [each.args for each in task.instances]
    assert ours[0][0].startswith("<system>Be brief.</end><user>") and ours[0][0].endswith("<assistant>")
    assert (ours[0][0].count("<assistant>") == 3) is multiturn


def test_a_task_file_names_the_tokenizer(tokenizer: Path, home: Path, server: GeneratingServer) -> None:
    server.requests.clear()
    options = RunOptions(base_url=server.url, output=home / "chat_likelihoods", concurrency=1)
    file = home / "piqa_chat.yaml"
    file.write_text(TASK.replace("TOKENIZER", f", tokenizer: {tokenizer}"), encoding="utf-8")
    done = run([str(file)], "chat/mock", options)
    assert open_run(done.folder).result("piqa_chat")["counts"]["scored"] == 6
    asked = [body["prompt"] for path, body in server.requests if path == "/tokenize"]
    assert any("<system>Be brief.</end><user>" in text and "</end><assistant>" in text for text in asked)


@pytest.mark.parametrize(
    ("given", "said"),
    [("", "need the chat template as text"), (", tokenizer: ./nowhere", "the tokenizer './nowhere' cannot be opened")],
)
def test_what_is_missing_ends_the_run_with_one_message(
    given: str, said: str, home: Path, server: GeneratingServer
) -> None:
    file = home / "piqa_without.yaml"
    file.write_text(TASK.replace("TOKENIZER", given), encoding="utf-8")
    with pytest.raises(CrevalError, match=said) as raised:
        run([str(file)], "chat/mock", RunOptions(base_url=server.url, output=home / f"without{len(given)}"))
    assert len(str(raised.value).splitlines()) <= 3
