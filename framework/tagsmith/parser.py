"""One generation: text or tokens in, events out, a message at the end."""

from __future__ import annotations

from collections.abc import Sequence

from tagsmith.engine.base import MAX_HELD_IN_RUN, Engine, Run
from tagsmith.engine.tokens import TokenizerError, TokenText
from tagsmith.errors import RequestError, require_text
from tagsmith.events import Diagnostic, DiagnosticCode, Event
from tagsmith.message import Message, MessageBuilder
from tagsmith.tokenizers import plain_ids

_FOLD_EVERY = 4096
_LONGEST_RUN = 1 << 16


class Parser:
    """Reads one generation of a family's output as it arrives. Made by `Family.parser`.

    >>> import tagsmith
    >>> parser = tagsmith.get_family("Cohere2ForCausalLM").parser()
    >>> parser.feed("<|START_RESPONSE|>Par"), parser.feed("is.<|END_RESP")
    ([ContentDelta(text='Par')], [ContentDelta(text='is.')])
    >>> parser.feed("ONSE|>"), parser.finish("stop"), parser.message.content
    ([], [], 'Paris.')
    """

    __slots__ = ("_builder", "_engine", "_finish_reason", "_finished", "_log", "_run", "_tokens")

    def __init__(self, engine: Engine, tokens: TokenText | None = None) -> None:
        self._engine = engine
        self._tokens = tokens
        self._builder = MessageBuilder()
        self._log: list[Event] = []
        self._run: Run | None = None
        self._finish_reason: str | None = None
        self._finished = False

    def feed(self, text: str, token_ids: Sequence[int] | None = None) -> list[Event]:
        """Take the next piece of output and return the events it completes.

        Parameters: `text` is the piece as decoded. `token_ids`, when given, are its tokens; they
        then decide, and `text` is not read: a marker's own token is the marker, a marker spelled
        with ordinary tokens is text, and a character cut over tokens is held until it is whole.

        Raises `RequestError` after `finish`, for text that is no text, and for `token_ids` that
        are no ids or come without a tokenizer.
        """
        run = self._run
        if run is None or token_ids is not None:
            return self._feed(text, token_ids)
        # The way that most text goes: whatever is done here, every delta pays for.
        try:
            if run.sign in text and (run.ends is None or run.ends(text)):
                return self._feed(text, None)
            if run.held:
                if len(run.held) > MAX_HELD_IN_RUN:
                    return self._feed(text, None)
                text = run.held + text
                run.held = ""
            if text[-1:] in run.trim:
                shown = text.rstrip(run.trim)
                run.held = text[len(shown) :]
                if not shown:
                    return []
                text = shown
        except TypeError:  # It is no text.
            return self._feed(text, None)
        run.shown.write(text)
        if run.shown.tell() > _LONGEST_RUN:
            self._end_run()
            self._run = self._engine.begin_run()
        return [run.event(text)]

    def _feed(self, text: str, token_ids: Sequence[int] | None) -> list[Event]:
        if self._finished:
            raise RequestError("feed", "this parser has finished; make one for each generation")
        require_text("text", text)
        self._end_run()
        events = (
            self._engine.feed(text) if token_ids is None else self._feed_tokens(text, token_ids)
        )
        self._record(events)
        self._run = self._engine.begin_run()
        return events

    def _end_run(self) -> None:
        """What was shown of the run is recorded; the engine reads on."""
        run, self._run = self._run, None
        if run is not None:
            self._engine.end_run(run)
            shown = run.shown.getvalue()
            if shown:
                self._record([run.event(shown)])

    def finish(self, reason: str | None = "stop") -> list[Event]:
        """The output has ended, for this reason; return the last events. Again, it returns none."""
        if self._finished:
            return []
        self._end_run()
        self._finished = True
        self._finish_reason = reason
        events = [*self._unfinished_character(), *self._engine.finish()]
        self._record(events)
        return events

    @property
    def message(self) -> Message:
        """The message so far; whole after `finish`."""
        self._end_run()
        self._fold()
        return self._builder.message(self._finish_reason, self._engine.stop)

    @property
    def stopped(self) -> bool:
        """Whether one of the user's stop strings has ended the content: nothing more will come."""
        return self._engine.stop is not None

    @property
    def offset(self) -> int:
        """How many characters of output were read."""
        self._end_run()
        return self._engine.offset

    def _feed_tokens(self, text: str, token_ids: Sequence[int]) -> list[Event]:
        if self._tokens is None:
            raise RequestError("token_ids", "need a tokenizer: family.parser(tokenizer=...)")
        ids = plain_ids(token_ids)
        try:
            pieces = list(self._tokens.read(ids))
        except TokenizerError as error:
            return [self._fault(error), *self._engine.feed(text)]
        events: list[Event] = []
        for piece, is_marker in pieces:
            if is_marker:
                events += self._engine.feed_marker(piece)
            elif piece:
                events += self._engine.feed_literal(piece)
        return events

    def _unfinished_character(self) -> list[Event]:
        try:
            if self._tokens is None or not self._tokens.finish():
                return []
        except TokenizerError as error:
            return [self._fault(error)]
        message = "the output ends inside a character"
        return [Diagnostic(DiagnosticCode.INCOMPLETE_CHARACTER, message, self.offset)]

    def _fault(self, error: TokenizerError) -> Event:
        """The tokenizer failed: this step is read by its text, the next ones by their tokens."""
        if self._tokens is not None:
            self._tokens.reset()
        return Diagnostic(DiagnosticCode.TOKENIZER_FAULT, str(error), self.offset)

    def _record(self, events: list[Event]) -> None:
        self._log += events
        if len(self._log) > _FOLD_EVERY:
            self._fold()

    def _fold(self) -> None:
        self._builder.add(self._log)
        self._log.clear()
