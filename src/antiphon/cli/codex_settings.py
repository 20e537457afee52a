"""What Codex is told to use Antiphon: the same few settings as `-c` overrides, as TOML to paste, and for `setup`.

Retry numbers, approvals and everything else stay the user's. In particular nothing here concerns approval review: which model does that is
the gateway's `review_model`. Not here: Codex itself (`codex_program`) and the user's file (`codex_config`).
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import tomlkit
from msgspec import Raw
from tomlkit.items import Table

from antiphon.protocol.document import Document

PROVIDER = "antiphon"
BY_URL = "model_catalog_url"
BY_FILE = "model_catalog_json"

# Measured with Codex 0.169.0: told of the URL, it writes the list into `models_cache.json` of its home, in place of what was there (marked
# with the provider it came from, so that no other takes it for its own); told of a file, or of both, it leaves that cache alone. So in the
# user's own home the file comes first, and in a home that is Antiphon's the URL, which stays fresh.
IN_USERS_HOME = (BY_FILE, BY_URL)
IN_OWN_HOME = (BY_URL, BY_FILE)

# Measured too: with neither a login nor a key it never asks the URL. A gateway without keys takes any.
KEY = "experimental_bearer_token"
NO_KEY = "none"
KEY_ENV = "env_key"


@dataclass(frozen=True, slots=True, kw_only=True)
class Settings:
    """One way to reach one gateway."""

    base_url: str
    """With `/v1`."""
    model: str | None
    """None: the user named one."""
    key_env: str = ""
    """The variable with the gateway's key; empty: it asks for none."""
    catalogue_url: bool = False
    catalogue_file: Path | None = None

    def top(self) -> dict[str, str]:
        """Top-level keys."""
        found: dict[str, str] = {"model_provider": PROVIDER}
        if self.model is not None:
            found["model"] = self.model
        if self.catalogue_file is not None:
            found[BY_FILE] = str(self.catalogue_file)
        return found

    def provider(self) -> dict[str, str]:
        """The provider's table."""
        found = {"name": "Antiphon", "base_url": self.base_url, "wire_api": "responses"}
        if self.catalogue_url:
            found[BY_URL] = f"{self.base_url}/models"
        if self.key_env:
            return found | {KEY_ENV: self.key_env}
        return found | {KEY: NO_KEY} if self.catalogue_url else found


def overrides(settings: Settings) -> list[str]:
    """The settings as arguments of Codex, which reads their values as TOML."""
    named = settings.top() | {f"model_providers.{PROVIDER}.{name}": value for name, value in settings.provider().items()}
    return [part for name, value in named.items() for part in ("-c", f"{name}={tomlkit.string(value).as_string()}")]


def toml(settings: Settings) -> str:
    """The settings as lines for `config.toml`."""
    written = tomlkit.document()
    for name, value in settings.top().items():
        written.add(name, value)
    written["model_providers"] = _super_table(settings.provider())
    return written.as_string()


def _super_table(provider: Mapping[str, str]) -> Table:
    table = tomlkit.table(is_super_table=True)
    table.append(PROVIDER, dict(provider))
    return table


def names_model(arguments: Sequence[str]) -> bool:
    """Whether the user's arguments choose a model: `-m X`, `-mX`, `--model X`, `-c model=X` and their other spellings."""
    options = arguments[: arguments.index("--")] if "--" in arguments else arguments
    previous = ""
    for option in options:
        if option in {"-m", "--model"} or (option.startswith("-m") and not option.startswith("--")) or option.startswith("--model="):
            return True
        value = option if previous in {"-c", "--config"} else _attached(option)
        if value.partition("=")[0].strip() == "model":
            return True
        previous = option
    return False


def _attached(option: str) -> str:
    """The value of `-cNAME=VALUE` or `--config=NAME=VALUE`."""
    for prefix in ("--config=", "-c"):
        if option.startswith(prefix):
            return option.removeprefix(prefix)
    return ""


def catalogue(models: Document) -> bytes | None:
    """What a catalogue file holds, out of the gateway's list; None where it has nothing for Codex."""
    entries: Sequence[Raw] = models.elements("models")
    return bytes(Document.of({"models": entries})) if entries else None


def first_model(models: Document) -> str | None:
    """The model that the gateway names first."""
    listed = models.elements("data")
    return Document(listed[0]).text("id") if listed else None
