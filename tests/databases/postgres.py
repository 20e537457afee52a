"""A PostgreSQL server of the tests' own: made in a temporary folder, ended with them.

It refuses to run as root; then it runs as `postgres` or `nobody`. `fsync` is off: tests kill processes, not the machine.
"""

import os
import pwd
import shutil
import socket
import subprocess
import tempfile
from pathlib import Path
from typing import Any, Self
from urllib.parse import quote

SECONDS = 60


class NoPostgresError(Exception):
    """There is no PostgreSQL on this machine."""


def programs() -> Path:
    """The folder that holds `initdb` and `pg_ctl`."""
    newest = sorted(Path("/usr/lib/postgresql").glob("*/bin"), key=lambda path: int(path.parent.name), reverse=True)
    found = shutil.which("initdb")
    for folder in (*newest, *([Path(found).parent] if found else [])):
        if (folder / "initdb").exists() and (folder / "pg_ctl").exists():
            return folder
    raise NoPostgresError("PostgreSQL's server programs are not installed (Debian: apt-get install postgresql)")


class Cluster:
    """A server while its context is open."""

    def __init__(self) -> None:
        self._programs = programs()
        self._folder = Path(tempfile.mkdtemp(prefix="antiphon-pg-"))
        self._user = _other_user()
        self.port = _free_port()
        self._schemas = 0

    def __enter__(self) -> Self:
        if self._user:
            shutil.chown(self._folder, self._user)
        self._folder.chmod(0o700)
        self._run("initdb", "-A", "trust", "-U", "antiphon", "--no-sync", "--encoding=UTF8", "--locale=C")
        self.start()
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()
        shutil.rmtree(self._folder, ignore_errors=True)

    def start(self) -> None:
        settings = f"-p {self.port} -k {self._folder} -c listen_addresses=127.0.0.1 -c fsync=off -c max_connections=200"
        self._run("pg_ctl", "-w", "-o", settings, "-l", str(self._folder / "log"), "start")

    def stop(self, *, mode: str = "immediate") -> None:
        """`immediate` is as by kill -9, and recovers at the next start."""
        self._run("pg_ctl", "-w", "-m", mode, "stop", check=False)

    def url(self) -> str:
        """A database of its own: a fresh schema."""
        self._schemas += 1
        name = f"test_{os.getpid()}_{self._schemas}"
        self.sql(f"CREATE SCHEMA {name}")
        return f"postgresql://antiphon@127.0.0.1:{self.port}/postgres?search_path={quote(name)}"

    def sql(self, statement: str) -> str:
        """What `psql` prints."""
        command = (
            self._programs / "psql",
            "-X",
            "-q",
            "-A",
            "-t",
            "-h",
            "127.0.0.1",
            "-p",
            str(self.port),
            "-U",
            "antiphon",
            "-d",
            "postgres",
        )
        return subprocess.run([*command, "-c", statement], capture_output=True, text=True, check=True, timeout=SECONDS).stdout.strip()

    def _run(self, program: str, *arguments: str, check: bool = True) -> None:
        who: dict[str, Any] = {"user": self._user, "extra_groups": []} if self._user else {}
        command = [str(self._programs / program), "-D", str(self._folder / "data"), *arguments]
        done = subprocess.run(
            command, cwd="/", stdout=subprocess.PIPE if program == "initdb" else subprocess.DEVNULL, stderr=subprocess.STDOUT, text=True,
            check=False, timeout=SECONDS, **who,
        )  # fmt: skip
        if check and done.returncode:
            log = self._folder / "log"
            raise RuntimeError(f"{program}: {done.stdout or ''}{log.read_text()[-2000:] if log.exists() else ''}")


def _other_user() -> str | None:
    if os.geteuid() != 0:
        return None
    for name in ("postgres", "nobody"):
        try:
            pwd.getpwnam(name)
        except KeyError:
            continue
        return name
    raise NoPostgresError("PostgreSQL refuses to run as root, and there is no other user here")


def _free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]
