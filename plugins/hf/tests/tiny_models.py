"""Tiny models with random weights, and their tokenizer, as the tests make them: two layers of 32 numbers."""

from __future__ import annotations

from pathlib import Path
from typing import Any

__all__ = ["CHAT", "THINKING_CHAT", "save_tiny"]

CHAT = (
    "{% for m in messages %}<|im_start|>{{ m['role'] }}\n{{ m['content'] }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)
THINKING_CHAT = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n"
    "{% if m.reasoning_content %}{{ '<muse>\n' + m.reasoning_content }}"
    "{{ '\n</muse>\n\n' }}{% endif %}{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% if open %}<muse>\n{% endif %}{% endif %}"
)
_SPECIAL = ["<s>", "<|im_start|>", "<|im_end|>", "<pad>"]
_WORDS = "the of and a in is it you that he was for on are with as his they be at one have this from or had by word"


def tokenizer(begins: bool = False, template: str | None = CHAT) -> Any:
    """Return a tokenizer of bytes and some words; `begins`: it puts <s> first, as Llama's does."""
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers, processors, trainers
    from transformers import PreTrainedTokenizerFast

    made = Tokenizer(models.BPE())
    made.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=[AddedToken(name, special=True) for name in _SPECIAL],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    made.train_from_iterator([f" {_WORDS}"] * 50, trainer)
    if begins:
        made.post_processor = processors.TemplateProcessing("<s> $A", special_tokens=[("<s>", 0)])
    fast = PreTrainedTokenizerFast(
        tokenizer_object=made, bos_token="<s>", eos_token="<|im_end|>", pad_token="<pad>", model_max_length=512
    )
    fast.add_special_tokens({"additional_special_tokens": ["<|im_start|>"]})
    fast.chat_template = template
    return fast


def save_tiny(folder: Path, kind: str = "llama", seed: int = 0, template: str | None = CHAT, **config: Any) -> Path:
    """Make a model of random weights and save it with its tokenizer; returns the folder."""
    import torch
    import transformers

    words = tokenizer(begins=kind == "llama", template=template)
    sizes: dict[str, Any] = {
        "vocab_size": len(words),
        "hidden_size": 32,
        "intermediate_size": 64,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "num_key_value_heads": 2,
        "max_position_embeddings": 256,
        "initializer_range": 0.6,  # far from uniform, so that tokens differ in probability
        "bos_token_id": words.bos_token_id,
        "eos_token_id": words.eos_token_id,
        "pad_token_id": words.pad_token_id,
    }
    if kind == "gpt2":
        sizes = {
            name: sizes[name] for name in sizes if name.endswith("_id") or name in ("vocab_size", "initializer_range")
        }
        sizes |= {"n_embd": 32, "n_layer": 2, "n_head": 4, "n_positions": 256}
    classes = {
        "llama": (transformers.LlamaConfig, transformers.LlamaForCausalLM),
        "qwen": (transformers.Qwen3Config, transformers.Qwen3ForCausalLM),
        "gpt2": (transformers.GPT2Config, transformers.GPT2LMHeadModel),
        "mistral": (transformers.MistralConfig, transformers.MistralForCausalLM),
    }
    make_config, make_model = classes[kind]
    if kind == "qwen":
        sizes["head_dim"] = 8
    torch.manual_seed(seed)
    model = make_model(make_config(**sizes | config)).eval()
    model.save_pretrained(folder)
    words.save_pretrained(folder)
    return folder
