"""Options of lm-eval's command that creval calls otherwise: what their users type here."""

from __future__ import annotations

__all__ = ["instead_of"]

_INSTEAD = {
    "apply-chat-template": "--condition apply_chat_template=true",
    "batch-size": "--concurrency N, or --model 'hf/NAME?batch_size=N'",
    "cache-requests": "--cache",
    "confirm-run-unsafe-code": "--allow-code-execution",
    "device": "--model 'hf/NAME?device=cuda'",
    "fewshot-as-multiturn": "--condition fewshot_as_multiturn=true",
    "gen-kwargs": "--generation NAME=VALUE",
    "include-path": "creval lmeval include FOLDER, once, then --tasks lmeval/NAME",
    "log-samples": "nothing: a run keeps every sample",
    "model-args": "--model hf/NAME for weights, --base-url URL for a server, --generation NAME=VALUE",
    "num-fewshot": "--condition num_fewshot=N",
    "output-path": "--output FOLDER",
    "samples": "--sample-id ID",
    "show-config": "creval show TASK --resolved",
    "system-instruction": "--condition system_instruction=TEXT",
    "trust-remote-code": "--trust-remote-code",
    "use-cache": "--cache",
}


def instead_of(option: str) -> str | None:
    """Return a line that says what an option of lm-eval's command is called here, None for what is none of it."""
    found = _INSTEAD.get(option.lstrip("-").replace("_", "-"))
    return None if found is None else f"No such option {option!r}, which is lm-eval's. Here: {found}"
