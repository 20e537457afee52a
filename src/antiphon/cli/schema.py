"""`antiphon schema`: what a client may send to resume a thread, as JSON Schemas."""

import click

from antiphon.protocol import json
from antiphon.threads.resume_params import Generation
from antiphon.threads.schema import schema as schema_of


@click.command()
@click.argument("generation", type=click.Choice([str(one) for one in Generation]), default=str(Generation.CURRENT))
def schema(generation: str) -> None:
    """Print the JSON Schema of the parameters by which a client resumes a thread.

    GENERATION is one of the protocol's: v1 (resumeConversation), v2-february and v2-march (thread/resume of 2026), current (the default).
    """
    click.echo(json.indented(schema_of(Generation(generation))))
