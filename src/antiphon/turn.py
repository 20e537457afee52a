"""One request on its way: what the upstream is sent, and how its answer becomes the client's.

Pure: it puts translations, stages and machines together as the upstream's dialect says, and hands them to whoever does the IO. Above: `http`.
Below: everything pure.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from msgspec import Raw

from antiphon.protocol import failures, json, notes, response, sse
from antiphon.protocol.document import Document
from antiphon.protocol.errors import InvalidRequest, UpstreamError
from antiphon.protocol.event_views import Event
from antiphon.protocol.failures import Failure, Row
from antiphon.protocol.notes import Note
from antiphon.protocol.request import RequestView
from antiphon.protocol.round_reader import RoundReader
from antiphon.protocol.stream_builder import NewId
from antiphon.stages.choice_kept import ChoiceKept
from antiphon.stages.complete import Complete
from antiphon.stages.cut_calls import CutCalls
from antiphon.stages.length_cut import LengthCut
from antiphon.stages.pipeline import Pipeline, Stage
from antiphon.stages.restore import Restore
from antiphon.translation import chat, defaults, responses, responses_answer
from antiphon.translation.chat_answer import ChatAnswer, ChatManner
from antiphon.translation.dialect import Dialect
from antiphon.translation.responses_answer import ResponsesAnswer
from antiphon.translation.translated import Translated

Answer = ChatAnswer | ResponsesAnswer


@dataclass(frozen=True, slots=True)
class Manner:
    """How requests are served here: settings, and where ids and time come from."""

    new_id: NewId
    now: Callable[[], int]
    length_cut: str = "incomplete"
    strict: bool = False
    failures: tuple[Row, ...] = ()
    retry_after_default: int = 0


@dataclass(frozen=True, slots=True)
class Target:
    """Where a request goes: the API and dialect spoken there, the model's name there, and what is asked of it where the client says nothing."""

    api: str
    dialect: Dialect
    model: str
    defaults: Mapping[str, Any] = field(default_factory=dict[str, Any])


class Turn:
    """A request, translated. Raises InvalidRequest where it cannot be, or where `strict` and something would be lost.

    `shown` are members that its response object has from us: its id and what it says of state, where we keep that.
    """

    def __init__(
        self, document: Document, view: RequestView, target: Target, manner: Manner, *, shown: Mapping[str, Any] | None = None
    ) -> None:
        said, document = document, defaults.asked(document, target.defaults)
        self._document, self._target, self._manner = document, target, manner
        self._shown = shown or {}
        self._translated = _translate(document, view, target)
        aliased = view.model != target.model
        self.path = self._translated.path
        body = defaults.sent(self._translated.body, target.defaults)
        self.body = bytes(body.but(model=target.model) if aliased else body)
        self.notes: list[Note] = defaults.told(self._translated.notes, said, target.defaults)
        self._echo = _changed_settings(document, self._translated, aliased=aliased) | {
            name: Raw(json.encode(value)) for name, value in self._shown.items()
        }
        self._begun: Document | None = None
        self._refuse_losses()

    @property
    def document(self) -> Document:
        """The request that was translated."""
        return self._document

    @property
    def cache_key(self) -> str:
        """The client's `prompt_cache_key`: whose prompts begin alike."""
        return self._document.text("prompt_cache_key") or ""

    @property
    def rules(self) -> Any:
        """The dialect's rules for the Responses API: which headers travel."""
        return self._target.dialect.responses

    def begun(self) -> Document:
        """The response object at its beginning, always the same one."""
        if self._begun is None:
            id = self._shown.get("id") or self._manner.new_id("resp")
            self._begun = response.begun(self._document, id=id, now=self._manner.now()).but(**self._shown)
        return self._begun

    @property
    def may_begin(self) -> bool:
        """Whether its stream may be begun for the upstream: where the response is ours to name."""
        return self._target.api == "chat" or "id" in self._shown

    def answer(self) -> Answer:
        """The machine that reads the upstream's answer."""
        if self._target.api == "responses":
            return ResponsesAnswer(self.begun, rows=self._rows)
        manner, rules = self._manner, self._target.dialect.chat
        read = ChatManner(
            manner.new_id,
            manner.now,
            reasoning=rules.reasoning,
            length_cut=manner.length_cut,
            rows=self._rows,
            think_tags=rules.think_tags,
            logprobs=self._translated.logprobs,
        )
        return ChatAnswer(self.begun(), read)

    def pipeline(self) -> Pipeline:
        """The stages between that machine and the client."""
        return Pipeline(self._stages())

    def whole(self, body: bytes) -> Document:
        """The response that a body holds which was not streamed. Raises UpstreamError where it holds none."""
        if self._target.api == "responses" and not sse.is_stream(body):
            return self._whole_response(body)
        return self._gathered(body)

    def failure(self, status: int, body: bytes, *, retry_after: str | None) -> Failure:
        """What a failing answer of the upstream means."""
        manner = self._manner
        default = str(manner.retry_after_default) if status == 429 and manner.retry_after_default else None
        return failures.explain(status, body, retry_after=retry_after or default, rows=self._rows)

    @property
    def _rows(self) -> tuple[Row, ...]:
        return (*self._manner.failures, *self._target.dialect.failures)

    def _gathered(self, body: bytes) -> Document:
        """The response at the end of the events that a body makes: of a completion, or of a stream that nobody had asked for."""
        answer, pipeline, reader = self.answer(), self.pipeline(), RoundReader()
        for event in pipeline.feed(answer.whole(body)):
            if isinstance(event, Event):
                reader.feed(event)
        self.notes += answer.notes
        if answer.failure is not None or reader.response is None:
            raise UpstreamError(answer.failure or failures.ended_early("the model server's answer holds no choice"))
        return reader.response

    def _whole_response(self, body: bytes) -> Document:
        try:
            found = responses_answer.whole(body, rows=self._rows)
        except ValueError as bad:
            raise UpstreamError(failures.ended_early(f"the model server sent what is not a response: {bad}")) from None
        for stage in self._stages():
            if isinstance(stage, ChoiceKept | Complete | CutCalls | Restore | LengthCut):
                found = stage.response(found)
        return found

    def _stages(self) -> Sequence[Stage]:
        stages: list[Stage] = []
        manner, rules = self._manner, self._target.dialect.responses
        if self._target.api == "responses":
            if not rules.verbatim:
                stages.append(Complete(self.begun, new_id=manner.new_id))
            limit = self._document.get("max_output_tokens") if rules.length_cut_completes else None
            if isinstance(limit, int):
                stages.append(LengthCut(hidden_limit=limit, shown="incomplete"))
            if not rules.verbatim:
                stages.append(CutCalls())
            if manner.length_cut == "completed":
                stages.append(LengthCut(hidden_limit=None, shown="completed"))
        tools, choice = self._translated.registry, self._translated.choice
        if choice is not None and choice.binds:
            stages.append(ChoiceKept(choice, self.notes))
        if self._echo or tools.found or any(not entry.is_plain for entry in tools.entries.values()):
            stages.append(Restore(tools, self._echo))
        return stages

    def _refuse_losses(self) -> None:
        lost = notes.losses(self.notes) if self._manner.strict else []
        if lost:
            named = "; ".join(f"'{note.where}'{f' ({note.why})' if note.why else ''}" for note in lost[: notes.SHOWN])
            message = f"This model server cannot take {named}, and 'strict' is on. Leave it out, or turn 'strict' off."
            raise InvalidRequest(message, param=lost[0].where, code="unsupported_parameter")


def _translate(document: Document, view: RequestView, target: Target) -> Translated:
    if target.api == "responses":
        return responses.translate(document, view, target.dialect.responses)
    return chat.translate(document, target.dialect.chat)


def _changed_settings(document: Document, translated: Translated, *, aliased: bool) -> dict[str, Raw]:
    """The settings that a Responses upstream was told otherwise than the client told them; a chat answer is built with the client's own."""
    if translated.path != responses.PATH or not (translated.edited or aliased):
        return {}
    told = translated.body.members if translated.edited else document.members
    same = {name for name, given in document.members.items() if bytes(given) == bytes(told.get(name, b""))}
    added = {name for name in told if name not in document.members}
    changed = (document.members.keys() - same) | added | ({"model"} if aliased else set[str]())
    return {name: value for name, value in response.echo(document).items() if name in changed}
