"""The recipes run: what they do with Holdfast here, and with the tools themselves in `real.py` (`make recipes`)."""

from __future__ import annotations

import ast
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import duckdb
import pytest

import holdfast as hf
from tests.recipes.blocks import BAD, GOOD, recipes, write_shop

RECIPES = recipes()


def own_part(tool: str, function: str, **names: Any) -> dict[str, Any]:
    """What a function of a recipe does without the tool: runs its statements, but those that name something of the
    tool's, and gives the names that these need.
    """
    tree = ast.parse(RECIPES[tool].code)
    imported = [each for each in tree.body if isinstance(each, ast.Import | ast.ImportFrom)]
    theirs = {alias.asname or alias.name for each in imported for alias in each.names} - {"hf"}
    (found,) = (each for each in ast.walk(tree) if isinstance(each, ast.FunctionDef) and each.name == function)
    own = [each for each in found.body if not theirs & {n.id for n in ast.walk(each) if isinstance(n, ast.Name)}]
    assert own
    space = {"hf": hf, **names}
    exec(compile(ast.Module(own, []), "docs/recipes.md", "exec"), space)
    return space


@pytest.fixture(autouse=True)
def shop(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    write_shop(tmp_path)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_there_is_a_recipe_for_each_tool_and_it_is_short() -> None:
    assert list(RECIPES) == ["Airflow", "Dagster", "dbt", "Databricks"]
    for recipe in RECIPES.values():
        if recipe.language == "python":
            compile(recipe.code, "docs/recipes.md", "exec")
        assert sum(bool(line.strip()) for line in recipe.code.splitlines()) <= 15


def test_airflow() -> None:
    with hf.Monitor.create("state/", "data/orders.csv", rules="rules.yaml"):
        pass
    own_part("Airflow", "orders", ds="2026-01-01")
    with pytest.raises(ValueError, match=re.escape("1 rule failed: t.amount >= 0")):
        own_part("Airflow", "orders", ds="2026-01-02")
    own_part("Airflow", "orders", ds="2026-01-02")  # asked for again: it was applied


@pytest.mark.parametrize(("content", "violated"), [(GOOD, False), (GOOD + "2,-1\n", True)])
def test_dagster(content: str, violated: bool) -> None:
    Path("data/orders.csv").write_text(content, encoding="utf-8")
    assert own_part("Dagster", "orders_follow_their_rules")["checked"].violated is violated


@pytest.mark.parametrize(("amount", "code"), [(5, 0), (-5, 1)])
def test_dbt(amount: int, code: int) -> None:
    """On the tables that dbt would have built."""
    with duckdb.connect("shop.duckdb") as database:
        database.execute(f"create table orders as select 1 as id, {amount} as amount")
    Path("target").mkdir()
    build, *script = RECIPES["dbt"].code.splitlines()
    assert build == "dbt build"
    path = os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]])
    done = subprocess.run(
        ["sh", "-e", "-c", "\n".join(script)],
        env={**os.environ, "PATH": path},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == code, done.stderr
    assert "testcase" in Path("target/holdfast.xml").read_text(encoding="utf-8")


@pytest.mark.parametrize("content", [GOOD, BAD])
def test_databricks(spark: Any, content: str) -> None:
    rows = ", ".join(f"({line})" for line in content.splitlines()[1:])
    code = compile(RECIPES["Databricks"].code, "docs/recipes.md", "exec")
    spark.sql("create database shop")
    try:
        spark.sql(f"create view shop.orders as select * from values {rows} as t(id, amount)")
        if content == BAD:
            with pytest.raises(ValueError, match="orders break their rules"):
                exec(code, {"spark": spark})
        else:
            exec(code, {"spark": spark})
    finally:
        spark.sql("drop database shop cascade")
