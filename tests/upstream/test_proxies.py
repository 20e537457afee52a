"""Which proxy stands on the way."""

import pytest

from antiphon.upstream import proxies

pytestmark = pytest.mark.requirement("network.proxy")

BOTH = {"http_proxy": "http://p:1", "HTTPS_PROXY": "http://s:2"}
WAYS = {
    "none is none": ("https://h/v1", "none", BOTH, ""),
    "named": ("https://h/v1", "http://own:3", BOTH, "http://own:3"),
    "by scheme, http": ("http://h/v1", "environment", BOTH, "http://p:1"),
    "by scheme, https": ("https://h/v1", "environment", BOTH, "http://s:2"),
    "nothing set": ("https://h/v1", "environment", {}, ""),
    "empty": ("https://h/v1", "environment", {"https_proxy": ""}, ""),
    "small letters first": ("http://h", "environment", {"http_proxy": "http://a:1", "HTTP_PROXY": "http://b:1"}, "http://a:1"),
    "all": ("http://h", "environment", {"ALL_PROXY": "http://a:1"}, "http://a:1"),
    "without a scheme": ("http://h", "environment", {"http_proxy": "a:1"}, "http://a:1"),
    "loopback name": ("http://localhost:8000/v1", "http://own:3", {}, ""),
    "loopback name with a dot": ("http://LOCALHOST.:8000/v1", "http://own:3", {}, ""),
    "below localhost": ("http://box.localhost/v1", "environment", BOTH, ""),
    "loopback address": ("http://127.8.9.1:8000/v1", "http://own:3", {}, ""),
    "loopback address, 6": ("http://[::1]:8000/v1", "environment", BOTH, ""),
    "no loopback": ("http://localhost.example/v1", "http://own:3", {}, "http://own:3"),
}


@pytest.mark.parametrize(("url", "setting", "environ", "proxy"), WAYS.values(), ids=WAYS)
def test_the_proxy_on_the_way(url: str, setting: str, environ: dict[str, str], proxy: str) -> None:
    assert proxies.proxy(url, setting, environ) == proxy


HOST = "https://a.models.example/v1"
EXCEPTIONS = {
    "*": ("*", True),
    "its name": ("a.models.example", True),
    "a domain": ("models.example", True),
    "a domain with a dot": (".models.example", True),
    "a domain with a star": ("*.models.example", True),
    "one of several": ("x, y,models.example ,z", True),
    "by spaces": ("x models.example", True),
    "capitals": ("MODELS.Example", True),
    "its port": ("models.example:443", True),
    "another port": ("models.example:8443", False),
    "the end of another name": ("odels.example", False),
    "below it": ("b.a.models.example", False),
    "nothing": ("", False),
    "odd": (",.,:,[", False),
}


@pytest.mark.parametrize(("no_proxy", "direct"), EXCEPTIONS.values(), ids=EXCEPTIONS)
def test_no_proxy_by_name(no_proxy: str, direct: bool) -> None:
    assert proxies.proxy(HOST, "environment", BOTH | {"NO_PROXY": no_proxy}) == ("" if direct else "http://s:2")


ADDRESSES = {"10.1.2.3": True, "10.0.0.0/8": True, "10.0.0.0/16": False, "10.1.2.3:80": True, "10.1.2.3:81": False, "fe80::/10": False}


@pytest.mark.parametrize(("no_proxy", "direct"), ADDRESSES.items(), ids=ADDRESSES)
def test_no_proxy_by_address(no_proxy: str, direct: bool) -> None:
    assert proxies.proxy("http://10.1.2.3/v1", "environment", BOTH | {"no_proxy": no_proxy}) == ("" if direct else "http://p:1")


def test_no_proxy_does_not_undo_a_proxy_that_is_named() -> None:
    assert proxies.proxy(HOST, "http://own:3", {"NO_PROXY": "*"}) == "http://own:3"
