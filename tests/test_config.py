"""Settings: where each comes from, which wins, and what is refused with a word that helps."""

from pathlib import Path
from typing import Any

import pytest

from antiphon import config, upstream_settings
from antiphon.config import SETTINGS, BadConfig, Setting
from antiphon.translation.presets import DIALECTS

pytestmark = pytest.mark.requirement("cli.settings")

OTHER: dict[str, tuple[Any, Any, Any]] = {
    "host": ("127.0.0.2", "127.0.0.3", "127.0.0.4"),
    "port": (1, 2, 3),
    "upstream": ("http://file", "http://variable", "http://flag"),
    "api": ("chat", "responses", "chat"),
    "dialect": ("vllm", "openai", "chat"),
    "upstream_key_env": ("FILE", "VARIABLE", "FLAG"),
    "drain_seconds": (1.5, 2.5, 3.5),
    "workers": (2, 3, 4),
    "store": ("file", "variable", "flag"),
    "key_env": ("FILE", "VARIABLE", "FLAG"),
    "keep_days": (1, 2, 3),
    "keep_stream_hours": (1, 2, 3),
    "gguf": ("file.gguf", "variable.gguf", "flag.gguf"),
    "strict": (True, False, True),
    "length_cut": ("completed", "incomplete", "completed"),
    "retry_after_default": (1, 2, 3),
    "max_body_mb": (1, 2, 3),
    "keepalive_seconds": (1.5, 2.5, 3.5),
    "proxy": ("http://file", "http://variable", "environment"),
    "ca_file": ("file.pem", "variable.pem", "flag.pem"),
    "connect_seconds": (1.5, 2.5, 3.5),
    "first_byte_seconds": (1.5, 2.5, 3.5),
    "idle_seconds": (1.5, 2, 3.5),
    "retries": (1, 2, 3),
    "retry_after_seconds": (1.5, 2.5, 3.5),
    "max_concurrent": (1, 2, 3),
    "max_queued": (1, 2, 3),
    "review_model": ("file", "variable", "flag"),
    "default_model": ("file", "variable", "flag"),
    "deferred_tools": (True, False, True),
    "capture": (True, False, True),
    "tool_rounds": (1, 2, 3),
    "tool_seconds": (1.5, 2.5, 3.5),
    "tool_turn_seconds": (1.5, 2.5, 3.5),
    "tool_result_kb": (1, 2, 3),
    "log_level": ("debug", "warning", "error"),
}
"""What file, variable and flag say of each setting."""
PLACES = {"upstream": "url", "upstream_key_env": "key_env", "api": "api", "dialect": "dialect"}


def read(loaded: config.Config, name: str) -> Any:
    return getattr(loaded.upstreams["upstream"], PLACES[name]) if name in PLACES else getattr(loaded, name)


def toml(folder: Path, text: str) -> str:
    file = folder / "antiphon.toml"
    file.write_text(text)
    return str(file)


def spelled(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool | int | float) else f'"{value}"'


def test_each_setting_has_a_row_here() -> None:
    assert list(OTHER) == [setting.name for setting in SETTINGS]


@pytest.mark.parametrize("setting", SETTINGS, ids=[setting.name for setting in SETTINGS])
def test_flag_wins_over_variable_over_file_over_default(setting: Setting, tmp_path: Path) -> None:
    name, (in_file, in_variable, in_flag) = setting.name, OTHER[setting.name]
    base = "" if name == "upstream" else 'upstream = "http://base"\n'
    file = toml(tmp_path, f"{base}{name} = {spelled(in_file)}\n")
    environ = {f"ANTIPHON_{name.upper()}": str(in_variable)}
    nowhere = {"XDG_CONFIG_HOME": str(tmp_path / "none")}
    with_upstream = {} if name == "upstream" else {"upstream": "http://base"}
    if name != "upstream":
        assert read(config.load(with_upstream, environ=nowhere), name) == setting.default
    assert read(config.load(file=file, environ={}), name) == in_file
    assert read(config.load(file=file, environ=environ), name) == in_variable
    assert read(config.load({name: in_flag}, file=file, environ=environ), name) == in_flag
    assert read(config.load({name: None}, file=file, environ=environ), name) == in_variable


def test_an_empty_variable_is_as_none(tmp_path: Path) -> None:
    assert config.load(file=toml(tmp_path, "port = 5\n"), environ={"ANTIPHON_PORT": ""}).port == 5


@pytest.mark.parametrize(
    ("text", "value"), [("1", True), ("TRUE", True), ("yes", True), ("on", True), ("0", False), ("No", False), ("off", False)]
)
def test_words_for_yes_and_no(text: str, value: bool, tmp_path: Path) -> None:
    assert config.load(environ={"ANTIPHON_STRICT": text, "XDG_CONFIG_HOME": str(tmp_path)}).strict is value


def test_the_usual_file_is_the_users_own_and_never_the_working_folders(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "config"
    (home / "antiphon").mkdir(parents=True)
    toml(home / "antiphon", "port = 11\n")
    toml(tmp_path, "port = 22\n")
    monkeypatch.chdir(tmp_path)
    assert config.load(environ={"XDG_CONFIG_HOME": str(home)}).port == 11
    assert config.load(environ={"XDG_CONFIG_HOME": str(tmp_path / "none")}).port == config.DEFAULT_PORT
    named = toml(tmp_path, "port = 33\n")
    assert config.load(environ={"XDG_CONFIG_HOME": str(home), "ANTIPHON_CONFIG": named}).port == 33


def test_the_data_folder() -> None:
    assert config.data_folder({"ANTIPHON_HOME": "/a", "XDG_DATA_HOME": "/b"}) == Path("/a")
    assert config.data_folder({"XDG_DATA_HOME": "/b"}) == Path("/b/antiphon")
    assert config.data_folder({}) == Path.home() / ".local" / "share" / "antiphon"


ONE = '[upstreams.one]\nurl = "http://one"\n'
BAD: dict[str, tuple[str, str]] = {
    "unknown setting": ("colour = 1\nport = 1\n", "unknown setting colour"),
    "no TOML": ("port = \n", "antiphon.toml"),
    "no UTF-8": ('host = "\udcff"\n', "antiphon.toml"),
    "a mark of Windows editors is nothing": ("\ufeffcolour = 1\n", "unknown setting colour"),
    "port is a text": ('port = "1"\n', "port: expected int, got '1'"),
    "port is yes": ("port = true\n", "port: expected int, got True"),
    "port is broken": ("port = 1.5\n", "port: expected int"),
    "port too large": ("port = 65536\n", "port: expected 0 to 65535, got 65536"),
    "negative time": ("idle_seconds = -1\n", "idle_seconds: expected 0"),
    "no time": ("keepalive_seconds = 0\n", "keepalive_seconds: expected 0.01"),
    "not a time": ("keepalive_seconds = nan\n", "keepalive_seconds: expected 0.01"),
    "endless": ("idle_seconds = inf\n", "idle_seconds: expected 0"),
    "no body": ("max_body_mb = 0\n", "max_body_mb: expected 1"),
    "strict is a number": ("strict = 1\n", "strict: expected bool, got 1"),
    "unknown choice": ('length_cut = "never"\n', "length_cut: expected one of incomplete, completed, got 'never'"),
    "upstreams is a list": ("upstreams = []\n", "[upstreams]"),
    "no URL": ("[upstreams.one]\n", "[upstreams.one]: Object missing required field `url`"),
    "unknown field": (ONE + "speed = 3\n", "unknown field `speed`"),
    "no http": ('[upstreams.one]\nurl = "ftp://x"\n', "upstream one"),
    "no host": ('[upstreams.one]\nurl = "http://"\n', "upstream one"),
    "bad host": ('[upstreams.one]\nurl = "http://[::1"\n', "upstream one"),
    "a header of two lines": ('[upstreams.one]\nurl = "http://x"\nheaders = { a = "b\\nc: d" }\n', "'a' holds a control character"),
    "bad port": ('[upstreams.one]\nurl = "http://x:port"\n', "upstream one"),
    "unknown api": (ONE + 'api = "soap"\n', "upstream one: unknown api 'soap'"),
    "unknown dialect": (ONE + 'dialect = "klingon"\n', "'klingon'"),
    "unknown rule": (ONE + "[upstreams.one.chat]\nfly = true\n", "[upstreams.one]: chat: Object contains unknown field `fly`"),
    "wrong rule": (ONE + "[upstreams.one.responses]\nname_limit = 'x'\n", "[upstreams.one]: responses: Expected `int`"),
    "unknown dialect of a model": (ONE + '[models."x*"]\ndialect = "klingon"\n', "[models.\"x*\"]: unknown dialect 'klingon'"),
    "wrong rule of a model": (ONE + '[models."x*".chat]\nimages = 5\n', '[models."x*"]: chat: Expected `bool`, got `int` - at `$.images`'),
    "unknown field of a model": (ONE + '[models."x*"]\nspeed = 5\n', "[models.x*]: Object contains unknown field `speed`"),
    "aliases": ("[aliases]\nsmall = 5\n", "[aliases.small]: Expected `str`"),
    "failures is a table": ("[failures]\nname = 'x'\n", "[failures]"),
    "failure without name": ("[[failures]]\nstatus = 400\n", "[failures]"),
    "failure of a broken expression": ("[[failures]]\nname = 'x'\nwording = '('\n", "[[failures]] x"),
    "failure of broken statuses": ("[[failures]]\nname = 'x'\nstatuses = '4xx'\n", "[[failures]] x"),
    "failure becomes nothing": ("[[failures]]\nname = 'x'\nstatus = 200\n", "[failures]"),
    "api of no upstream": ('api = "chat"\n' + ONE, "api: this is of 'upstream'"),
    "key of no upstream": ('upstream_key_env = "KEY"\n', "upstream_key_env: this is of 'upstream'"),
}


@pytest.mark.parametrize(("text", "told"), BAD.values(), ids=BAD)
def test_what_cannot_be_is_refused(text: str, told: str, tmp_path: Path) -> None:
    file = tmp_path / "antiphon.toml"
    file.write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(BadConfig) as refused:
        config.load(file=str(file), environ={})
    assert told in str(refused.value)


def test_a_named_file_must_be_there(tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=r"none\.toml"):
        config.load(file=str(tmp_path / "none.toml"), environ={})


@pytest.mark.parametrize(("name", "text"), [("PORT", "http"), ("STRICT", "perhaps"), ("IDLE_SECONDS", "soon"), ("API", "soap")])
def test_a_variable_that_cannot_be_is_named(name: str, text: str, tmp_path: Path) -> None:
    with pytest.raises(BadConfig, match=f"(?i){name}.*{text}"):
        config.load(environ={f"ANTIPHON_{name}": text, "XDG_CONFIG_HOME": str(tmp_path)})


def test_a_key_that_cannot_be_sent_is_refused_without_being_shown(tmp_path: Path) -> None:
    file = toml(tmp_path, '[upstreams.one]\nurl = "http://x"\nkey_env = "KEY"\n')
    assert config.load(file=file, environ={"KEY": " secret\n"}).upstreams["one"].key_env == "KEY"
    with pytest.raises(config.BadConfig, match="'KEY' holds a control character") as refused:
        config.load(file=file, environ={"KEY": "secret\nx: y"})
    assert "secret" not in str(refused.value)


def test_the_named_upstream_comes_before_those_of_the_file(tmp_path: Path) -> None:
    loaded = config.load({"upstream": "http://flag"}, file=toml(tmp_path, ONE), environ={})
    assert list(loaded.upstreams) == ["upstream", "one"]


@pytest.mark.requirement("dialects.overrides")
@pytest.mark.parametrize("name", DIALECTS)
def test_a_preset_can_be_changed_in_one_field(name: str, tmp_path: Path) -> None:
    rules = '[upstreams.one.chat]\nimages = false\npasses = ["seed"]\n[upstreams.one.responses]\nname_limit = 9\n'
    one = config.load(file=toml(tmp_path, ONE + rules), environ={}).upstreams["one"]
    changed, preset = upstream_settings.dialect(DIALECTS[name], one), DIALECTS[name]
    assert (changed.chat.images, changed.chat.passes, changed.responses.name_limit) == (False, {"seed"}, 9)
    assert changed.chat.late_developer == preset.chat.late_developer
    assert changed.responses.verbatim == preset.responses.verbatim
    assert (changed.name, changed.failures, changed.efforts) == (preset.name, preset.failures, preset.efforts)


MODELS = """
[upstreams.one.chat]
images = false
late_developer = "system"
[models."big*".chat]
late_developer = "developer"
[models."one/*-thinker"]
dialect = "openai"
chat = { reasoning_back = "reasoning_content", late_developer = "assistant" }
"""
OF_MODEL = {
    "small": ("vllm", False, "system", "reasoning"),
    "big": ("vllm", False, "developer", "reasoning"),
    "big-thinker": ("openai", False, "assistant", "reasoning_content"),
    "small-thinker": ("openai", False, "assistant", "reasoning_content"),
    "two/small-thinker": ("openai", False, "assistant", "reasoning_content"),
}
"""A model of upstream `one`, and what holds for it: the later table wins over the earlier, and that over its upstream."""


@pytest.mark.requirement("dialects.overrides")
@pytest.mark.parametrize(("model", "held"), OF_MODEL.items(), ids=OF_MODEL)
def test_a_models_own_rules_come_last(model: str, held: tuple[str, bool, str, str], tmp_path: Path) -> None:
    loaded = config.load(file=toml(tmp_path, ONE + MODELS), environ={})
    found = upstream_settings.dialect(DIALECTS["vllm"], loaded.upstreams["one"], upstream_settings.of_model(loaded.models, "one", model))
    assert (found.name, found.chat.images, found.chat.late_developer, found.chat.reasoning_back) == held


@pytest.mark.requirement("dialects.overrides")
def test_an_upstreams_name_in_a_models_table_keeps_it_from_others(tmp_path: Path) -> None:
    models = config.load(file=toml(tmp_path, ONE + MODELS), environ={}).models
    assert [one.dialect for one in upstream_settings.of_model(models, "two", "small-thinker")] == []
    assert [one.dialect for one in upstream_settings.of_model(models, "one", "BIG")] == []


@pytest.mark.requirement("failures.upstream-own")
def test_a_failure_row_is_read_as_the_table_has_it(tmp_path: Path) -> None:
    text = '[[failures]]\nname = "tired"\nstatuses = "400 500-502"\nwording = "HAMSTER"\nstatus = 429\ncode = "rate_limit_exceeded"\n'
    (row,) = config.load(file=toml(tmp_path, text), environ={}).failures
    assert [row.fits(status, "the hamster sleeps") for status in (400, 401, 500, 502, 503)] == [True, False, True, True, False]
    assert not row.fits(400, "the cat sleeps")
