"""What a failed transfer of libcurl means: whether a retry may help, and what to do."""

from __future__ import annotations

import errno
import os

import pycurl

from creval.errors import CrevalError, FatalModelError, ModelError, RetryableModelError
from creval.models.providers import http_settings
from creval.models.providers.failures import Caller
from creval.models.secrets import redact

__all__ = ["bad_address", "failure_of"]

_BAD_ADDRESS = frozenset({pycurl.E_URL_MALFORMAT, pycurl.E_UNSUPPORTED_PROTOCOL})
_NO_HTTP = ("Received HTTP/0.9", "Unsupported HTTP")
"""Beginnings of messages with the code of an unsupported protocol that are about the reply, not about the address."""
_BAD_PROXY = "Unsupported proxy"
"""Beginning of messages that repeat the proxy's address, with its password."""
_CLOSED = frozenset({pycurl.E_GOT_NOTHING, pycurl.E_SEND_FAIL_REWIND})
"""The second is libcurl's wish to send a request again, see `Transfer`."""
_OF_TLS = "error:0A"
"""OpenSSL's errors of the protocol, in contrast to a connection that broke off."""
_UNEXPECTED_END = "unexpected eof"
_NO_TLS = "wrong version number"
"""OpenSSL's words for an answer that is not TLS."""


def failure_of(code: int, message: str, os_error: int, caller: Caller, seconds: float) -> CrevalError:
    """Return the error for libcurl's code and message.

    `os_error` is the system's error number or 0, `seconds` the time limit of a call.
    """
    if message.startswith(_BAD_PROXY):
        return http_settings.bad_proxy()
    where = caller.where
    if code == pycurl.E_OPERATION_TIMEDOUT:
        return RetryableModelError(_limit_passed(message, seconds), where=where)
    if code in _BAD_ADDRESS and not message.startswith(_NO_HTTP):
        return bad_address(redact(message, caller.keys), caller)
    kind: type[ModelError] = RetryableModelError
    fix = "Check that the server runs and that the base URL is right."
    words = redact(message, caller.keys) or f"libcurl's error {code}"  # some have no message
    if code == pycurl.E_PEER_FAILED_VERIFICATION:
        kind = FatalModelError
        fix = f"If the certificate is your own:  export {http_settings.CERTIFICATES}=/path/to/certificate.pem"
    elif code == pycurl.E_SSL_CONNECT_ERROR and _OF_TLS in message and _UNEXPECTED_END not in message:
        kind = FatalModelError  # the server has no TLS, or none that this client accepts
        fix = "If the server has no TLS, write http:// in the base URL." if _NO_TLS in message else fix
    elif code == pycurl.E_COULDNT_CONNECT and os_error:
        words = os.strerror(os_error)
    elif code == pycurl.E_COULDNT_CONNECT and _too_many_files():
        words, fix = "too many files are open", "Raise the limit (ulimit -n 4096), or lower --concurrency."
    elif code in _CLOSED:
        words = "the server closed the connection without an answer"
    return kind(f"the connection failed: {words}", where=where, fix=fix)


def bad_address(what: str, caller: Caller) -> FatalModelError:
    """Return the error for an address, or a header, that cannot be sent."""
    fix = "Check the base URL: http(s)://host:port/v1."
    return FatalModelError(f"the address cannot be called: {what}", where=caller.where, fix=fix)


def _limit_passed(message: str, seconds: float) -> str:
    limit = http_settings.CONNECT_SECONDS
    if limit < seconds and not message.startswith("Operation timed out"):
        return f"no connection within {limit:g} s"
    return f"no answer within {seconds:g} s"


def _too_many_files() -> bool:
    """Return whether no file can be opened; libcurl tells no error number for a socket that it could not make."""
    try:
        os.close(os.open(os.devnull, os.O_RDONLY))
    except OSError as error:
        return error.errno in (errno.EMFILE, errno.ENFILE)
    return False
