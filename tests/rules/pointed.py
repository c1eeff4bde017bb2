"""How a reader of rules says what is wrong where."""

from __future__ import annotations


def pointed(words: str, text: str, at: str) -> str:
    """A sentence, the text below it, and a caret below the first occurrence of a piece of it; "" is the end."""
    place = text.index(at) if at else len(text)
    return f"{words}\n  {text}\n  {' ' * place}^"
