"""The recipes with the tools themselves: an environment for each, in which pip installs it beside Holdfast, and a run
on a good day and on a bad one. Needs an index of packages, and some minutes.

    python -m tests.recipes.real [Airflow] [Dagster] [dbt]
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

from tests.project import copy_project
from tests.recipes.blocks import BAD, GOOD, recipes, write_shop

# dbt 1.11 needs a parser that pip can't build everywhere.
PACKAGES = {
    "Airflow": ["apache-airflow>=3"],
    "Dagster": ["dagster"],
    "dbt": ["dbt-core==1.10.*", "dbt-duckdb"],
}
_EXTRAS = {"dbt": "[duckdb]"}


class Place:
    """A folder with the shop, and an environment with the tool."""

    def __init__(self, tool: str, folder: Path) -> None:
        self.folder, self.bin, self.code = folder, folder / "env" / "bin", recipes()[tool].code
        write_shop(folder)
        self.environment = {**os.environ, "PATH": f"{self.bin}{os.pathsep}{os.environ['PATH']}"}
        self.environment.pop("PYTHONPATH", None)
        own = f"{copy_project(folder / 'holdfast')}{_EXTRAS.get(tool, '')}"
        self.run(sys.executable, "-m", "venv", "env")
        self.run("env/bin/pip", "install", "--quiet", "--disable-pip-version-check", own, *PACKAGES[tool])

    def run(self, *words: str, expected: int = 0) -> str:
        """Run a command; gives what it wrote."""
        done = subprocess.run(
            words, cwd=self.folder, env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
            check=False,
        )  # fmt: skip
        assert done.returncode == expected, f"{' '.join(words)} ended with {done.returncode}:\n{done.stdout}"
        return done.stdout


def airflow(place: Place) -> None:
    """`airflow dags test` runs the day of a DAG; a rule that broke fails it."""
    home = place.folder / "airflow"
    (home / "dags").mkdir(parents=True)
    (home / "dags" / "shop.py").write_text(place.code, encoding="utf-8")
    place.environment |= {"AIRFLOW_HOME": str(home), "AIRFLOW__CORE__LOAD_EXAMPLES": "false"}
    place.run("holdfast", "init", "state/", "data/orders.csv", "--rules", "rules.yaml")
    place.run("airflow", "db", "migrate")
    place.run("airflow", "dags", "reserialize")
    good = place.run("airflow", "dags", "test", "shop", "2026-01-01")
    assert "All 2 rules hold." in good, good
    bad = place.run("airflow", "dags", "test", "shop", "2026-01-02", expected=1)
    assert "ValueError: 1 rule failed: t.amount >= 0" in bad, bad


_MATERIALIZE = """
import sys
import dagster as dg
import recipe
assert dg.materialize([recipe.orders, recipe.orders_follow_their_rules], raise_on_error=False).success
"""


def dagster(place: Place) -> None:
    """Materializing the asset runs its check, which blocks where a rule is violated."""
    (place.folder / "recipe.py").write_text(place.code, encoding="utf-8")
    (place.folder / "materialize.py").write_text(_MATERIALIZE, encoding="utf-8")
    place.run("python", "materialize.py")
    (place.folder / "data" / "orders.csv").write_text(GOOD + BAD.splitlines()[1] + "\n", encoding="utf-8")
    assert "1 of them violated" in place.run("python", "materialize.py", expected=1)


def dbt(place: Place) -> None:
    """Dbt builds the table in a DuckDB file, and `check` reads it there."""
    (place.folder / "models").mkdir()
    files = {
        "dbt_project.yml": "name: shop\nversion: '1.0'\nprofile: shop\nmodels:\n  +materialized: table\n",
        "profiles.yml": "shop:\n  target: dev\n  outputs:\n    dev: {type: duckdb, path: shop.duckdb}\n",
        "models/orders.sql": "select 1 as id, cast('{{ env_var(\"AMOUNT\") }}' as integer) as amount\n",
    }
    for name, text in files.items():
        (place.folder / name).write_text(text, encoding="utf-8")
    for amount, code in (("5", 0), ("-5", 1)):
        place.environment["AMOUNT"] = amount
        place.run("sh", "-e", "-c", place.code, expected=code)
    assert "<failure" in (place.folder / "target" / "holdfast.xml").read_text(encoding="utf-8")


TRIES: dict[str, Callable[[Place], None]] = {"Airflow": airflow, "Dagster": dagster, "dbt": dbt}

if __name__ == "__main__":
    for name in sys.argv[1:] or TRIES:
        with tempfile.TemporaryDirectory(prefix="holdfast-recipe-") as made:
            TRIES[name](Place(name, Path(made)))
        sys.stdout.write(f"{name}: the recipe runs\n")
