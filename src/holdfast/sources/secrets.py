"""Addresses of databases without their secrets: what is shown or stored never has a password.

An address may carry credentials before its host (`//user:word@host`, `thin:user/word@host`) or among its parameters
(`password=…`, `pwd=…`, anything that sounds like a secret). Drivers repeat them in their errors, so errors are
cleaned as well: of what looks like a secret, and of the given values themselves.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from urllib.parse import quote, unquote

from holdfast.errors import BadInput

HIDDEN = "***"
USER_VARIABLE, PASSWORD_VARIABLE = "HOLDFAST_JDBC_USER", "HOLDFAST_JDBC_PASSWORD"
_SOUNDS_SECRET = (
    r"(?:[\w.-]*(?:pass|pwd|secret|token|credential|signature|access_?key|api_?key|private_?key)[\w.-]*|\bsig)"
)
_PARAMETER = re.compile(rf"(?i)({_SOUNDS_SECRET}\s*=\s*)(\{{(?:[^}}]|\}}\}})*\}}|[^&;\s]*)")
_BEFORE_HOST = re.compile(r"(//[^\s/:@]*:|:thin:[^\s/@]*/)\S*@")  # the password may contain any of these characters
_USER = re.compile(r"//([^\s/:@]*):(\S*)@")
_VARIABLE = re.compile(r"\$\{(\w+)\}")
_SHORTEST = 3  # a shorter secret would occur in every sentence


def redacted(text: str, secrets: Iterable[str] = ()) -> str:
    """The text without credentials: those that look like it, and the given ones."""
    for secret in sorted(set(secrets), key=len, reverse=True):
        if len(secret) >= _SHORTEST:
            text = text.replace(secret, HIDDEN)
    text = _PARAMETER.sub(rf"\1{HIDDEN}", text)
    return _BEFORE_HOST.sub(rf"\1{HIDDEN}@", text)


def secrets_of(address: str, properties: Mapping[str, str]) -> set[str]:
    """The secret values of an address and its properties, as written and decoded."""
    found = {match[2] for match in re.finditer(rf"(?i)({_SOUNDS_SECRET})=([^&;]*)", address)}
    found |= {match[2] for match in _USER.finditer(address)}
    found |= {value for name, value in properties.items() if re.fullmatch(rf"(?i){_SOUNDS_SECRET}", name)}
    # A value may end where further parameters begin, or contain the question mark that begins them.
    forms = {
        form
        for value in found
        for form in (value, value.strip("{}"), value.partition("?")[0], value.rpartition("?")[0])
    }
    return {form for value in forms for form in (value, unquote(value)) if form}


def with_variables(text: str) -> tuple[str, set[str]]:
    """An address with the values of the variables that it names, as in `${DB_PASSWORD}`, and these values."""
    secrets: set[str] = set()

    def value_of(found: re.Match[str]) -> str:
        value = os.environ.get(found[1])
        if value is None:
            raise BadInput(f"{redacted(text)}: the environment has no variable {found[1]}; set it, or give another")
        secrets.update((value, quote(value, safe="")))
        # A variable may hold a whole address; where it holds a part, such as a password, its signs mean nothing.
        return value if "://" in value or "://" not in text or text.startswith("jdbc:") else quote(value, safe="")

    return _VARIABLE.sub(value_of, text), secrets


def refuse_plain_secrets(address: str) -> None:
    """Refuse an address in a command that has a password in it: every user of the machine sees commands."""
    without_variables = _VARIABLE.sub(HIDDEN, address)
    if redacted(without_variables) != without_variables:
        raise BadInput(
            f"{redacted(address)}: all users of this machine see the secrets in a command; put this one into the "
            "environment, and write ${NAME} for it, in single quotes"
        )


def with_environment(properties: Mapping[str, str]) -> dict[str, str]:
    """The properties of a connection; user and password come from the environment where nothing else gives them."""
    known = {"user": os.environ.get(USER_VARIABLE), "password": os.environ.get(PASSWORD_VARIABLE)}
    return {**{name: value for name, value in known.items() if value}, **properties}


def read_properties(path: Path) -> dict[str, str]:
    """The properties in a file: `name=value` or `name: value` on each line; `#` and `!` begin comments."""
    try:
        lines = path.read_text(encoding="utf-8").splitlines()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise BadInput(f"{path}: the properties can't be read ({reason}); check the file") from None
    properties = {}
    for number, line in enumerate(lines, 1):
        if not line.strip() or line.lstrip().startswith(("#", "!")):
            continue
        match = re.match(r"\s*([^\s=:]+)\s*[=:]\s*(.*?)\s*\Z", line)
        if match is None:
            raise BadInput(f"{path}, line {number}: not a property; write name=value")
        properties[match[1]] = match[2]
    return properties
