"""`antiphon setup codex`: Antiphon in the user's own `config.toml`, shown before it is written, and `--undo`.

Beside the file lies a backup: the file as it was without our lines. What is ours and how it is taken out is `codex_config`; here are the
file, the backup and the questions. A symbolic link is followed, and what it points to is what is changed.
"""

import contextlib
import difflib
import errno
import os
import stat
import tempfile
from dataclasses import dataclass
from pathlib import Path

import click

from antiphon import config
from antiphon.cli import codex_config, codex_program, codex_settings, running_gateway
from antiphon.cli.codex import configured
from antiphon.cli.codex_config import Lines
from antiphon.cli.codex_settings import Settings

PRIVATE = 0o600
"""Of a file that was not there before: keys may come to stand in it."""


@click.group()
def setup() -> None:
    """Write Antiphon into a client's own configuration, or take it out again."""


@setup.command()
@click.option("--undo", is_flag=True, help="Take out what was written, and put back what was there before.")
@click.option("--yes", is_flag=True, help="Do not ask.")
@click.option("--url", help="The gateway; else the one at the configured address.")
@click.option("--model", help="The model to use; else the first one that the running gateway lists.")
def codex(url: str | None, model: str | None, *, undo: bool, yes: bool) -> None:
    """Make the gateway the provider of every Codex of this user.

    Without this, `antiphon codex` runs Codex on the gateway and changes no file.
    """
    path = _path()
    try:
        file = File.at(path)
        change = _undone(file) if undo else _set_up(file, _settings(url, model))
        if change is None:
            click.echo(f"Nothing to do: {path} {'has nothing of Antiphon' if undo else 'is set up already'}.")
        else:
            _carry_out(change, undo=undo, yes=yes)
    except codex_config.CannotEdit as refused:
        raise click.ClickException(f"{path} {refused}. Nothing was changed; the lines to paste: antiphon codex --print-config") from None
    except OSError as failed:
        raise click.ClickException(f"{failed.filename or path}: {failed.strerror}. {path} is as it was.") from None
    except (config.BadConfig, running_gateway.NoGateway) as failed:
        raise click.ClickException(str(failed)) from None


def _path() -> Path:
    """Codex's own, where its home is."""
    home = os.environ.get("CODEX_HOME")
    return (Path(home) if home else Path.home() / ".codex") / "config.toml"


def _carry_out(change: "Change", *, undo: bool, yes: bool) -> None:
    click.echo(change.diff(), nl=False)
    if not yes:
        click.confirm("Write this?", abort=True)
    change.apply()
    click.echo("Undone." if undo else "Written. It needs a running gateway (antiphon serve); undo: antiphon setup codex --undo")


@dataclass(frozen=True, slots=True)
class File:
    """The user's configuration and its backup, as they were when looked at. None: no such file."""

    path: Path
    data: bytes | None
    earlier: bytes | None

    @classmethod
    def at(cls, path: Path) -> "File":
        """The file that is there, or that a link there names."""
        try:
            path = path.resolve()
        except RuntimeError as loop:  # an OSError from Python 3.13 on
            raise OSError(errno.ELOOP, os.strerror(errno.ELOOP), str(path)) from loop
        return cls(path, _bytes(path), _bytes(_backup(path)))

    def text(self) -> str:
        """What is in it."""
        return self._decoded(self.data or b"")

    def text_before(self) -> str:
        """What was in it before it got our lines."""
        return self._decoded(self.earlier or b"")

    def _decoded(self, data: bytes) -> str:
        try:
            return data.decode()
        except UnicodeDecodeError as bad:
            raise codex_config.CannotEdit(f"is not UTF-8: {bad.reason} at byte {bad.start}") from None


@dataclass(frozen=True, slots=True)
class Change:
    """What is to become of the file and of its backup. None: it goes."""

    file: File
    after: bytes | None
    backup: bytes | None

    def diff(self) -> str:
        """The change as it is shown."""
        before, after = ((data or b"").decode().splitlines(keepends=True) for data in (self.file.data, self.after))
        lines = difflib.unified_diff(before, after, str(self.file.path), str(self.file.path))
        return "".join(line if line.endswith("\n") else f"{line}\n" for line in lines)

    def apply(self) -> None:
        """The backup is there before the file changes, and goes after it has."""
        path = self.file.path
        if _bytes(path) != self.file.data:
            raise click.ClickException(f"{path} was changed in the meantime; nothing was written. Try again.")
        mode = stat.S_IMODE(path.stat().st_mode) if self.file.data is not None else PRIVATE
        path.parent.mkdir(parents=True, exist_ok=True)
        if self.backup is not None:
            _write(_backup(path), self.backup, mode)
        if self.after is None:
            path.unlink()
        else:
            _write(path, self.after, mode)
        if self.backup is None:
            _backup(path).unlink(missing_ok=True)


def _settings(url: str | None, model: str | None) -> Settings:
    gateway = configured(url)
    if model is None:
        if not running_gateway.is_running(gateway):
            raise running_gateway.NoGateway(f"No gateway runs at {gateway}, so its models are unknown: start it, or name one with --model.")
        model = codex_settings.first_model(running_gateway.fetch(gateway, "/v1/models"))
    takes_url = True
    with contextlib.suppress(codex_program.NoCodex):
        takes_url = codex_program.find().knows(codex_settings.BY_URL) is not False
    if not takes_url:
        click.echo("This Codex cannot ask the gateway for its models and falls back on general assumptions; a newer one can.", err=True)
    return Settings(base_url=f"{gateway}/v1", model=model, catalogue_url=takes_url)


def _set_up(file: File, settings: Settings) -> Change | None:
    lines, ours = codex_config.of(settings), codex_config.found(file.text())
    if ours == lines:
        return None
    if ours is None or _is_users(file, ours, lines):
        without, existed = file.text(), file.data is not None
    else:
        without = codex_config.take_out(file.text(), file.text_before())
        existed = _existed(file, without)
    after = codex_config.put(without, lines).encode()
    return None if after == file.data else Change(file, after, without.encode() if existed else None)


def _is_users(file: File, ours: Lines, lines: Lines) -> bool:
    """Whether the user has put the provider there: there is no backup, and something stands there that we never wrote."""
    never = ours.provider.keys() - lines.provider.keys()
    return file.earlier is None and bool(never or codex_config.take_out(file.text(), "").strip())


def _undone(file: File) -> Change | None:
    if codex_config.found(file.text()) is None:
        return None
    without = codex_config.take_out(file.text(), file.text_before())
    return Change(file, without.encode() if _existed(file, without) else None, None)


def _existed(file: File, without: str) -> bool:
    """Whether the file was there before us: it has a backup. Or whether it has to stay, because the user wrote into it since."""
    return file.earlier is not None or bool(without.strip())


def _backup(path: Path) -> Path:
    return path.with_name(f"{path.name}.before-antiphon")


def _bytes(path: Path) -> bytes | None:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        return None


def _write(path: Path, data: bytes, mode: int) -> None:
    """The file is the old one or the new one at any moment."""
    handle, scratch = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    try:
        with os.fdopen(handle, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        Path(scratch).chmod(mode)
        Path(scratch).replace(path)
    finally:
        Path(scratch).unlink(missing_ok=True)
