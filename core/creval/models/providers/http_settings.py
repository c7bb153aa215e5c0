"""The settings of libcurl that all calls of a provider share: limits, proxy, and the certificates to trust."""

from __future__ import annotations

import os
import ssl
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pycurl

from creval.errors import UsageError

__all__ = [
    "CONNECT_SECONDS",
    "MOST_CONNECTIONS",
    "Certificates",
    "HttpLimits",
    "apply_settings",
    "bad_proxy",
    "trusted_certificates",
]

CONNECT_SECONDS = 30.0
IDLE_SECONDS = 60
LONGEST_SECONDS = 2e6
"""A longer time limit means none."""
MOST_CONNECTIONS = 4096
"""Connections that are kept open for the next call."""
CERTIFICATES = "SSL_CERT_FILE"
"""The variable that names a file of certificates to trust, next to those of the system."""


class HttpLimits(NamedTuple):
    """`seconds` for a call, and the most bytes of a body once it is decompressed."""

    seconds: float
    bytes: int


class Certificates(NamedTuple):
    """The file and the folder of the certificates to trust; None is none."""

    file: str | None
    folder: str | None


def apply_settings(curl: pycurl.Curl, limits: HttpLimits, proxy: str | None, trusted: Certificates) -> None:
    """Set up a new handle. Raises UsageError if the proxy's address cannot be read."""
    set_option = curl.setopt
    set_option(pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS)
    set_option(pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_1_1)
    set_option(pycurl.NOSIGNAL, 1)
    set_option(pycurl.USERAGENT, "creval")
    set_option(pycurl.TCP_KEEPALIVE, 1)  # an answer may take minutes, and routers forget silent connections
    set_option(pycurl.CONNECTTIMEOUT_MS, round(1000 * CONNECT_SECONDS))
    set_option(pycurl.MAXAGE_CONN, IDLE_SECONDS)
    set_option(pycurl.NOPROXY, "")
    set_option(pycurl.PROXY, _checked_proxy(proxy) if proxy is not None else "")
    if limits.seconds <= LONGEST_SECONDS:
        set_option(pycurl.TIMEOUT_MS, max(1, round(1000 * limits.seconds)))
    for option in (pycurl.CAINFO, pycurl.PROXY_CAINFO):
        set_option(option, None if trusted.file is None else os.fsencode(trusted.file))
    for option in (pycurl.CAPATH, pycurl.PROXY_CAPATH):
        set_option(option, None if trusted.folder is None else os.fsencode(trusted.folder))


def _checked_proxy(proxy: str) -> str:
    address = proxy if "://" in proxy else f"http://{proxy}"
    try:
        parts = urlsplit(address)
        if parts.hostname and address.isascii() and (parts.port is None or parts.port):
            return address
    except ValueError:
        pass
    raise bad_proxy()


def bad_proxy() -> UsageError:
    """Return the error for a proxy whose address libcurl cannot use, without that address and its password."""
    return UsageError(
        "the address of the proxy in the environment cannot be read",
        where="http_proxy, https_proxy",
        fix="Write it as http://host:port.",
    )


def trusted_certificates() -> Certificates:
    """Return which certificates to trust: the user's file and the system's folder, else the system's, else certifi's.

    A folder that SSL_CERT_DIR names is trusted next to the file. A folder counts if it has an index, as OpenSSL
    needs one. Raises UsageError if the user's file cannot be used.
    """
    paths = ssl.get_default_verify_paths()
    folder = paths.capath if paths.capath and any(Path(paths.capath).glob("*.0")) else None
    own = os.environ.get(CERTIFICATES)
    if own:
        _check_certificates(own)
        return Certificates(own, folder)
    if paths.cafile:
        named = os.environ.get(paths.openssl_capath_env)
        # Without a folder libcurl reads the file once for all connections.
        return Certificates(paths.cafile, folder if named else None)
    if folder:
        return Certificates(None, folder)
    import certifi

    return Certificates(certifi.where(), None)


def _check_certificates(file: str) -> None:
    what = "contains an invalid certificate"
    try:
        ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT).load_verify_locations(file)
        return
    except ssl.SSLError:
        pass
    except OSError as error:
        what = f"cannot be read: {error.strerror}"
    fix = f"It names {file}. Name a file of certificates in PEM form, or unset the variable."
    raise UsageError(f"the file of certificates {what}", where=CERTIFICATES, fix=fix)
