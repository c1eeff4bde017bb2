"""The files that hold a summary."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from holdfast.errors import clear_sentences
from holdfast.report.ci.summary import Summary
from holdfast.results.outputs import FileKind, contains, refuse_unwritable, write_text, writing

_JUNIT = FileKind("a JUnit report", contains(b'package="holdfast"'))
_SARIF = FileKind("a SARIF report", contains(b'"name": "Holdfast"'))
_MARKDOWN = FileKind("Markdown", lambda _: True)  # never overwritten: it is added to


@dataclass(frozen=True)
class CiFiles:
    """Where summaries go. JUnit XML and SARIF replace those of an earlier command. Markdown is added to its file: a CI
    host collects in one file what all commands of a step say.
    """

    junit: Path | None = None
    sarif: Path | None = None
    markdown: Path | None = None

    def start(self) -> None:
        """Refuse files that can't be written, before the work; and remove what an earlier command wrote."""
        for path, kind in ((self.junit, _JUNIT), (self.sarif, _SARIF), (self.markdown, _MARKDOWN)):
            if path:
                refuse_unwritable(path, kind)
        for path in (self.junit, self.sarif):
            if path and path.is_file():
                with clear_sentences(path):
                    path.unlink()

    def write(self, summary: Summary) -> None:
        """Write a summary into each of them."""
        from holdfast.report.ci.junit import junit_text
        from holdfast.report.ci.markdown import markdown_text
        from holdfast.report.ci.sarif import sarif_text

        replaced: list[tuple[Path | None, FileKind, Callable[[Summary], str]]] = [
            (self.junit, _JUNIT, junit_text),
            (self.sarif, _SARIF, sarif_text),
        ]
        for path, kind, text_of in replaced:
            if path:
                write_text(path, text_of(summary), kind)
        if self.markdown:
            with writing(self.markdown, _MARKDOWN), self.markdown.open("a", encoding="utf-8", newline="\n") as file:
                file.write(markdown_text(summary))
