"""The HTTP client over TLS and through real proxies."""

from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import certifi
import pytest
from support.raw_server import KEY, OK, THREE, answering, certificate, proxying, send

from creval.errors import FatalModelError, RetryableModelError, UsageError

real = ssl.get_default_verify_paths


def test_a_certificate_of_ones_own_is_trusted_where_the_variable_names_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, own = certificate(tmp_path, "-addext", "basicConstraints=critical,CA:FALSE")
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="export SSL_CERT_FILE="):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert send(url).body == b"abc"
        with pytest.raises(FatalModelError, match="target hostname"):
            send(url.replace("127.0.0.1", "localhost"))
        broken = tmp_path / "broken.pem"
        broken.write_text("-----BEGIN CERTIFICATE-----\nabc\n-----END CERTIFICATE-----\n")
        monkeypatch.setenv("SSL_CERT_FILE", str(broken))
        with pytest.raises(UsageError, match="SSL_CERT_FILE: the file of certificates contains an invalid certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "absent.pem"))
        with pytest.raises(
            UsageError, match=r"SSL_CERT_FILE: the file of certificates cannot be read: .*\n.*absent\.pem"
        ):
            send(url)


def test_the_path_of_a_certificate_may_have_any_letters(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    folder = tmp_path / "jürgen"
    folder.mkdir()
    context, own = certificate(folder)
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    with answering(OK + THREE, context=context) as url:
        assert send(url).body == b"abc"


def test_without_a_file_the_systems_folder_is_trusted(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, own = certificate(tmp_path)
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "own.pem").write_bytes(own.read_bytes())
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setenv("SSL_CERT_DIR", str(folder))
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: real()._replace(cafile=None))
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):  # certifi's, as the folder has no index
            send(url)
        subprocess.run(["openssl", "rehash", str(folder)], check=True)
        assert send(url).body == b"abc"


def test_a_folder_that_the_variable_names_is_trusted_next_to_the_systems_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    context, own = certificate(tmp_path)
    folder = tmp_path / "certs"
    folder.mkdir()
    (folder / "own.pem").write_bytes(own.read_bytes())
    subprocess.run(["openssl", "rehash", str(folder)], check=True)
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    monkeypatch.setattr(ssl, "get_default_verify_paths", lambda: real()._replace(cafile=certifi.where()))
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_DIR", str(folder))
        assert send(url).body == b"abc"


def test_a_certificate_of_an_authority_may_be_a_servers_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """openssl makes one unless it is told otherwise."""
    context, own = certificate(tmp_path)
    with answering(OK + THREE, context=context) as url:
        with pytest.raises(FatalModelError, match="self-signed certificate"):
            send(url)
        monkeypatch.setenv("SSL_CERT_FILE", str(own))
        assert send(url).body == b"abc"


def test_a_server_without_tls_is_fatal() -> None:
    with (
        answering(b"HTTP/1.1 400 Bad Request\r\n\r\n") as url,
        pytest.raises(FatalModelError, match=r"wrong version number\n.*write http://"),
    ):
        send(url.replace("http:", "https:"))


def test_calls_go_through_the_proxy_and_its_password_is_sent_but_never_shown() -> None:
    seen: list[bytes] = []
    with proxying(seen) as proxy:
        address = proxy.removesuffix("/v1").removeprefix("http://")
        assert send("http://far.example/v1/x", f"http://user:geheim-lang@{address}").body == b"abc"
        assert send("http://far.example/v1/x", address).body == b"abc"
    assert seen[0].startswith(b"POST http://far.example/v1/x HTTP/1.1\r\n")
    assert (
        b"Proxy-Authorization: Basic dXNlcjpnZWhlaW0tbGFuZw==" in seen[0].title()
        or b"dXNlcjpnZWhlaW0tbGFuZw==" in seen[0]
    )
    with pytest.raises(RetryableModelError) as caught:
        send("http://far.example/v1/x", f"http://user:geheim-lang@{address}")
    assert "geheim" not in f"{caught.value}{caught.value!r}"


def test_a_host_may_have_any_letters() -> None:
    seen: list[bytes] = []
    with proxying(seen) as proxy:
        assert send("http://bücher.example:81/v1", proxy.removesuffix("/v1")).body == b"abc"
    assert seen[0].startswith(b"POST http://xn--bcher-kva.example:81/v1 ")


def test_tls_goes_through_the_proxys_tunnel(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    context, own = certificate(tmp_path, "-addext", "basicConstraints=critical,CA:FALSE")
    monkeypatch.setenv("SSL_CERT_FILE", str(own))
    seen: list[bytes] = []
    with answering(OK + THREE, context=context) as url, proxying(seen) as proxy:
        assert send(url, proxy.removesuffix("/v1")).body == b"abc"
    assert seen[0].startswith(b"CONNECT 127.0.0.1:") and KEY.encode() not in b"".join(seen)


@pytest.mark.parametrize(
    "proxy",
    [
        "http://[::1",
        "http://u:geheim@[",
        "http://",
        "ftp://u:geheim@h:3",
        "http://u:ge heim@h:3",
        "http://u:gehéim@h:3",
    ],
)
def test_a_proxy_that_is_no_address_is_the_users_mistake(proxy: str) -> None:
    with pytest.raises(UsageError, match="proxy") as caught:
        send("http://far.example/v1", proxy)
    assert "geheim" not in str(caught.value)
