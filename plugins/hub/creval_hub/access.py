"""Access to the Hub: the library, the token, and one message per error."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from creval.plugin import DataError, MissingPartError, UsageError
from creval.plugin.hub import redact

__all__ = ["check_repository", "hub_errors", "open_hub"]

_NAME = re.compile(r"(?=.{3,96}$)[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?/[A-Za-z0-9](?:[\w.-]*[A-Za-z0-9])?", re.ASCII)

_CARRIERS = ("httpx", "httpx2", "requests")
"""The packages whose errors the library does not wrap; which one it uses depends on its version."""


def check_repository(name: str) -> str:
    """Return the name of a repository. Raises UsageError if it does not have the form owner/name."""
    if not _NAME.fullmatch(name) or "--" in name or ".." in name:
        raise UsageError(
            f"{name!r} is not the name of a repository on the Hub", fix="Write it as owner/name, e.g. ada/creval-runs."
        )
    return name


def open_hub(need_token: bool = True) -> Any:
    """Return the library's client. Raises MissingPartError if a token is needed and none is set."""
    os.environ.setdefault("HF_HUB_DISABLE_TELEMETRY", "1")
    import huggingface_hub

    token = huggingface_hub.get_token()
    if need_token and not token:
        raise MissingPartError(
            "the Hugging Face Hub accepts files only with a token, and none is set",
            fix="Create one with write access in the Hub's settings, then: export HF_TOKEN=<your token>",
        )
    huggingface_hub.utils.disable_progress_bars()
    return huggingface_hub.HfApi(endpoint=os.environ.get("HF_ENDPOINT"), token=token, library_name="creval")


@contextmanager
def hub_errors(repository: str) -> Iterator[None]:
    """Convert the library's errors to one message that says what is wrong, where, and how to fix it."""
    from huggingface_hub import errors

    try:
        yield
    except errors.GatedRepoError as error:
        raise _failed(repository, "it is gated", "Accept its terms on its page, and set HF_TOKEN.") from error
    except errors.RevisionNotFoundError as error:
        raise _failed(repository, "there is no such revision", "Name a branch, a tag or a commit of it.") from error
    except errors.RepositoryNotFoundError as error:
        fix = "Check the name; a private one is seen only with a token of its owner (HF_TOKEN)."
        raise _failed(repository, "there is no such repository", fix) from error
    except errors.OfflineModeIsEnabled as error:
        raise _failed(repository, "HF_HUB_OFFLINE forbids the network", "Unset HF_HUB_OFFLINE.") from error
    except errors.HfHubHTTPError as error:
        status = error.response.status_code if error.response is not None else None
        if status in (401, 403):
            said = "the token is refused" if status == 401 else "the token has no write access there"
            fix = "Set HF_TOKEN to a token of the owner with the right to write (creval pushes to your own name)."
            raise _failed(repository, said, fix) from error
        raise _failed(repository, _words(error), "Nothing is lost: push again, what has arrived is kept.") from error
    except Exception as error:
        if not isinstance(error, OSError) and type(error).__module__.partition(".")[0] not in _CARRIERS:
            raise
        fix = "Check the network and HF_ENDPOINT; nothing is lost: try again, what has arrived is kept."
        raise _failed(repository, f"the Hub cannot be reached: {_words(error)}", fix) from error


def _failed(repository: str, what: str, fix: str) -> DataError:
    return DataError(f"the Hub: {what}", where=repository, fix=fix)


def _words(error: Exception) -> str:
    return redact(" ".join(str(error).split())[:300]) or type(error).__name__
