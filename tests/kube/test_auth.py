"""Credentials from kubeconfigs of all sorts, from exec plugins and from inside a cluster."""

from __future__ import annotations

import importlib
import json
import sys
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
import trustme
import yaml

from bayplan.errors import ConfigError
from bayplan.kube import auth
from bayplan.kube.auth import Credentials
from tests.support.control_plane import ControlPlane
from tests.support.live import client_of

CA = trustme.CA()


@pytest.fixture(autouse=True)
def no_surroundings(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in (
        "KUBECONFIG",
        "HTTPS_PROXY",
        "https_proxy",
        "NO_PROXY",
        "no_proxy",
        "KUBERNETES_SERVICE_HOST",
    ):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))


def kubeconfig(folder: Path, user: dict[str, Any], **cluster: Any) -> Path:
    (folder / "ca.crt").write_bytes(CA.cert_pem.bytes())
    document = {
        "apiVersion": "v1",
        "kind": "Config",
        "clusters": [
            {
                "name": "c",
                "cluster": {"server": "https://api:6443/", "certificate-authority": "ca.crt", **cluster},
            }
        ],
        "users": [{"name": "u", "user": user}, {"name": "v", "user": {"token": "other"}}],
        "contexts": [
            {"name": "first", "context": {"cluster": "c", "user": "u", "namespace": "here"}},
            {"name": "second", "context": {"cluster": "c", "user": "v"}},
        ],
        "current-context": "first",
    }
    path = folder / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    return path


def exec_plugin(folder: Path, code: str) -> dict[str, Any]:
    script = folder / "plugin.py"
    script.write_text(code)
    command = {
        "apiVersion": "client.authentication.k8s.io/v1",
        "command": sys.executable,
        "args": [str(script)],
    }
    return {"exec": command | {"interactiveMode": "Never"}}


def exec_answer(**status: str) -> str:
    answer = {"apiVersion": "client.authentication.k8s.io/v1", "kind": "ExecCredential", "status": status}
    return f"print({json.dumps(json.dumps(answer))})\n"


def test_a_token_and_the_namespace_of_the_context(tmp_path: Path) -> None:
    credentials = Credentials(str(kubeconfig(tmp_path, {"token": "abc"})))
    assert credentials.headers() == {"Authorization": "Bearer abc"}
    assert credentials.namespace == "here"
    assert credentials.endpoint().base_url == "https://api:6443"


def test_the_endpoint_knows_who_named_it(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "secret"})
    assert Credentials(str(path)).endpoint().origin == str(path)


def test_another_context(tmp_path: Path) -> None:
    credentials = Credentials(str(kubeconfig(tmp_path, {"token": "abc"})), "second")
    assert credentials.headers() == {"Authorization": "Bearer other"}
    assert credentials.namespace == "default"


def test_kubeconfig_from_the_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    path = kubeconfig(tmp_path, {"token": "abc"})
    # The package reads the environment when it is imported.
    monkeypatch.setattr("kubernetes.config.kube_config.KUBE_CONFIG_DEFAULT_LOCATION", str(path))
    monkeypatch.setenv("KUBECONFIG", str(path))
    assert Credentials().headers() == {"Authorization": "Bearer abc"}


def test_a_token_file_may_end_in_a_newline_and_change(tmp_path: Path) -> None:
    token = tmp_path / "token"
    token.write_text("one\n")
    credentials = Credentials(str(kubeconfig(tmp_path, {"tokenFile": str(token)})))
    assert credentials.headers() == {"Authorization": "Bearer one"}
    token.write_text("two\n")
    credentials.reload()
    assert credentials.headers() == {"Authorization": "Bearer two"}


def test_user_and_password(tmp_path: Path) -> None:
    credentials = Credentials(str(kubeconfig(tmp_path, {"username": "a", "password": "b"})))
    assert credentials.headers() == {"Authorization": "Basic YTpi"}


def test_an_exec_plugin_is_asked_again_when_its_token_expires(tmp_path: Path) -> None:
    soon = (datetime.now(UTC) + timedelta(seconds=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    later = (datetime.now(UTC) + timedelta(hours=1)).strftime("%Y-%m-%dT%H:%M:%SZ")
    user = exec_plugin(tmp_path, exec_answer(token="one", expirationTimestamp=soon))
    credentials = Credentials(str(kubeconfig(tmp_path, user)))
    assert credentials.headers() == {"Authorization": "Bearer one"}
    exec_plugin(tmp_path, exec_answer(token="two", expirationTimestamp=later))
    credentials.refresh()
    assert credentials.headers() == {"Authorization": "Bearer two"}
    exec_plugin(tmp_path, exec_answer(token="three", expirationTimestamp=later))
    credentials.refresh()
    assert credentials.headers() == {"Authorization": "Bearer two"}, "it is good for an hour"
    credentials.reload()
    assert credentials.headers() == {"Authorization": "Bearer three"}, "the API server did not take it"


def test_an_exec_plugin_that_fails_is_one_clear_line(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, exec_plugin(tmp_path, "import sys; sys.exit('not logged in')"))
    with pytest.raises(ConfigError, match=rf"^{path}: cannot read the kubeconfig: exec: .*; pass --kubeconfig FILE"):
        Credentials(str(path))


def test_a_client_certificate_is_loaded_and_its_change_is_noticed(tmp_path: Path) -> None:
    def issue() -> None:
        certificate = CA.issue_cert(common_name="me", organization_name="us")
        (tmp_path / "me.crt").write_bytes(certificate.cert_chain_pems[0].bytes())
        (tmp_path / "me.key").write_bytes(certificate.private_key_pem.bytes())

    issue()
    credentials = Credentials(str(kubeconfig(tmp_path, {"client-certificate": "me.crt", "client-key": "me.key"})))
    assert credentials.headers() == {}
    first = credentials.endpoint()
    assert credentials.endpoint() == first
    issue()
    assert credentials.endpoint() != first


def test_a_certificate_that_is_none_is_one_clear_line(tmp_path: Path) -> None:
    (tmp_path / "me.crt").write_text("nothing")
    (tmp_path / "me.key").write_text("nothing")
    credentials = Credentials(str(kubeconfig(tmp_path, {"client-certificate": "me.crt", "client-key": "me.key"})))
    with pytest.raises(ConfigError, match=r"cannot use the client certificate .*me\.crt"):
        credentials.endpoint()


def test_checking_can_be_turned_off_and_the_name_changed(tmp_path: Path) -> None:
    settings = {"insecure-skip-tls-verify": True, "tls-server-name": "inner"}
    endpoint = Credentials(str(kubeconfig(tmp_path, {"token": "t"}, **settings))).endpoint()
    assert endpoint.server_hostname == "inner"
    assert endpoint.ssl is not None
    assert not endpoint.ssl.check_hostname


@pytest.mark.parametrize(
    ("settings", "environment", "proxy"),
    [
        ({}, {}, None),
        ({"proxy-url": "http://p:1"}, {}, "http://p:1"),
        ({"proxy-url": "http://p:1"}, {"NO_PROXY": "api"}, "http://p:1"),
        ({}, {"HTTPS_PROXY": "http://q:2"}, "http://q:2"),
        ({}, {"HTTPS_PROXY": "http://q:2", "NO_PROXY": "api"}, None),
    ],
)
def test_proxies(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: dict[str, str],
    environment: dict[str, str],
    proxy: str | None,
) -> None:
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert Credentials(str(kubeconfig(tmp_path, {"token": "t"}, **settings))).endpoint().proxy == proxy


def test_a_proxy_of_another_kind_is_refused(tmp_path: Path) -> None:
    path = kubeconfig(tmp_path, {"token": "t"}, **{"proxy-url": "socks5://p:1"})
    with pytest.raises(ConfigError, match="proxy socks5://p:1: only http:// and https:// proxies are supported"):
        Credentials(str(path)).endpoint()


@pytest.mark.parametrize(
    ("text", "problem"),
    [(None, "no such file"), ("", ""), ("{}", ""), ("clusters: [", ""), ("current-context: gone", "")],
)
def test_a_kubeconfig_that_cannot_be_used_is_one_clear_line(tmp_path: Path, text: str | None, problem: str) -> None:
    path = tmp_path / "config"
    if text is not None:
        path.write_text(text)
    with pytest.raises(ConfigError) as raised:
        Credentials(str(path))
    message = str(raised.value)
    assert message.startswith(f"{path}: cannot read the kubeconfig: {problem}")
    assert message.endswith("; pass --kubeconfig FILE or set KUBECONFIG")
    assert "\n" not in message


def test_a_kubeconfig_in_another_encoding_is_told_in_our_words(tmp_path: Path) -> None:
    path = tmp_path / "config"
    path.write_bytes("current-context: é".encode("latin-1"))
    with pytest.raises(ConfigError, match=r": cannot read the kubeconfig: this is not UTF-8 text; pass --kubeconfig"):
        Credentials(str(path))


def test_inside_a_cluster_the_mounted_token_is_used_and_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token, ca = tmp_path / "token", tmp_path / "ca.crt"
    token.write_text("one")
    ca.write_bytes(CA.cert_pem.bytes())
    loader = importlib.import_module("kubernetes.config.incluster_config")
    monkeypatch.setattr(auth, "IN_CLUSTER_TOKEN", token)
    monkeypatch.setattr(loader, "SERVICE_TOKEN_FILENAME", str(token))
    monkeypatch.setattr(loader, "SERVICE_CERT_FILENAME", str(ca))
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "10.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", "443")
    credentials = Credentials()
    assert credentials.headers() == {"Authorization": "bearer one"}
    first = credentials.endpoint()
    assert first.base_url == "https://10.0.0.1:443"
    token.write_text("two")
    credentials.reload()
    assert credentials.headers() == {"Authorization": "bearer two"}
    ca.write_bytes(trustme.CA().cert_pem.bytes())
    assert credentials.endpoint() != first, "a rotated CA is noticed"
    token.unlink()
    monkeypatch.setattr(auth, "IN_CLUSTER_TOKEN", ca)
    with pytest.raises(ConfigError, match=r"cannot read the service account's credentials: .*token file"):
        credentials.reload()


@pytest.mark.kube
async def test_the_real_api_server_takes_an_exec_plugins_token(control_plane: ControlPlane, tmp_path: Path) -> None:
    document = yaml.safe_load(control_plane.kubeconfig().read_text())
    answer = exec_answer(token=control_plane.tokens["admin"])
    document["users"][0]["user"] = exec_plugin(tmp_path, answer)
    path = tmp_path / "kubeconfig"
    path.write_text(yaml.safe_dump(document))
    client, _ = client_of(path)
    try:
        assert (await client.get("/api/v1/namespaces/default"))["metadata"]["name"] == "default"
    finally:
        await client.close()
