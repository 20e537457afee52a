"""Programs as installers lay them out: which file is found, and what it is said to know."""

from collections.abc import Mapping
from pathlib import Path

import pytest

from antiphon.cli.codex_program import NoCodex, find

pytestmark = pytest.mark.requirement("cli.codex-overrides")

ELF = b"\x7fELF" + bytes(5000)
NEW = ELF + b"..model_providers..model_catalog_json..model_catalog_url.."
OLD = ELF + b"..model_providers..model_catalog_json.."
SHIM = ELF + b"some other program"
SCRIPT = b"#!/usr/bin/env node\n// model_providers\n"


def laid_out(folder: Path, files: Mapping[str, bytes], links: Mapping[str, str]) -> None:
    for name, data in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
        path.chmod(0o755)
    for name, target in links.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.symlink_to(target)


NPM = "lib/node_modules/@openai"
LAYOUTS: dict[str, tuple[dict[str, bytes], dict[str, str], str | None]] = {
    "npm": (
        {f"{NPM}/codex/bin/codex.js": SCRIPT, f"{NPM}/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex": NEW},
        {"bin/codex": f"../{NPM}/codex/bin/codex.js"},
        f"{NPM}/codex-linux-x64/vendor/x86_64-unknown-linux-musl/bin/codex",
    ),
    "npm, packages nested": (
        {
            f"{NPM}/codex/bin/codex.js": SCRIPT,
            f"{NPM}/codex/node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex": NEW,
        },
        {"bin/codex": f"../{NPM}/codex/bin/codex.js"},
        f"{NPM}/codex/node_modules/@openai/codex-darwin-arm64/vendor/aarch64-apple-darwin/bin/codex",
    ),
    "npm, all in one": (
        {f"{NPM}/codex/bin/codex.js": SCRIPT, f"{NPM}/codex/vendor/x86_64-unknown-linux-musl/codex/codex": NEW},
        {"bin/codex": f"../{NPM}/codex/bin/codex.js"},
        f"{NPM}/codex/vendor/x86_64-unknown-linux-musl/codex/codex",
    ),
    "native": (
        {"opt/codex-x86_64-unknown-linux-musl": NEW},
        {"bin/codex": "../opt/codex-x86_64-unknown-linux-musl"},
        "opt/codex-x86_64-unknown-linux-musl",
    ),
    "a wrapper": ({"bin/codex": b"#!/bin/sh\nexec codex -c model_providers.x.name=y\n"}, {}, None),
    "a version switcher": ({"bin/codex": SHIM}, {}, None),
    "empty": ({"bin/codex": b""}, {}, None),
}


@pytest.mark.parametrize(("files", "links", "native"), LAYOUTS.values(), ids=LAYOUTS)
def test_the_native_program_is_found(tmp_path: Path, files: dict[str, bytes], links: dict[str, str], native: str | None) -> None:
    laid_out(tmp_path, files, links)
    found = find({"PATH": str(tmp_path / "bin")})
    assert found.launcher == tmp_path / "bin" / "codex"
    assert (found.native and found.native.resolve()) == (native and (tmp_path / native).resolve())
    assert found.knows("model_catalog_url") is (None if native is None else True)


def test_an_older_program_knows_less(tmp_path: Path) -> None:
    laid_out(tmp_path, {"codex": OLD}, {})
    found = find({"PATH": str(tmp_path)})
    assert (found.knows("model_catalog_json"), found.knows("model_catalog_url")) == (True, False)


def test_a_named_program_comes_before_the_one_on_path(tmp_path: Path) -> None:
    laid_out(tmp_path, {"codex": OLD, "elsewhere/mine": NEW}, {})
    named = str(tmp_path / "elsewhere" / "mine")
    assert find({"PATH": str(tmp_path), "ANTIPHON_CODEX": named}).launcher == Path(named)


def test_where_there_is_none_it_is_said_how_to_get_it(tmp_path: Path) -> None:
    with pytest.raises(NoCodex, match="npm install -g @openai/codex"):
        find({"PATH": str(tmp_path)})
    with pytest.raises(NoCodex, match="ANTIPHON_CODEX names no program: nowhere"):
        find({"PATH": str(tmp_path), "ANTIPHON_CODEX": "nowhere"})
