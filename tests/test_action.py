"""The composite action: its scripts run here as the host runs them, with what its inputs say in the environment."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import yaml

from tests.project import ROOT, copy_project

ACTION: dict[str, Any] = yaml.safe_load((ROOT / "action.yml").read_text(encoding="utf-8"))
STEPS: list[dict[str, Any]] = ACTION["runs"]["steps"]
EXPRESSION = re.compile(r"\$\{\{\s*(.*?)\s*\}\}")


class Job:
    """A job of the host: a folder with the checked out files, and one for what is temporary."""

    def __init__(self, folder: Path) -> None:
        self.work, self.temp = folder / "work", folder / "temp"
        self.summary, self.output = self.temp / "summary", self.temp / "output"
        for each in (self.work, self.temp):
            each.mkdir()
        self.summary.touch()
        self.output.touch()
        rules = 'rules:\n  - rule: "key(id)"\n  - rule: "t.age >= 0"\n'
        (self.work / "rules.yaml").write_text(rules, encoding="utf-8")
        (self.work / "good data.csv").write_text("id,age\n1,2\n2,3\n", encoding="utf-8")
        (self.work / "bad.csv").write_text("id,age\n1,2\n1,-3\n", encoding="utf-8")

    def run(self, name: str, inputs: dict[str, str], **more: str) -> subprocess.CompletedProcess[str]:
        """Run the script of a step, as the host's `shell: bash` does."""
        step = next(step for step in STEPS if step.get("name") == name)
        values = {key: each.get("default", "") for key, each in ACTION["inputs"].items()} | inputs
        own = {key: _filled(text, values) for key, text in step["env"].items()}
        host = {
            "RUNNER_TEMP": str(self.temp), "GITHUB_STEP_SUMMARY": str(self.summary), "GITHUB_OUTPUT": str(self.output),
        }  # fmt: skip
        script = self.temp / "script.sh"
        script.write_text(step["run"], encoding="utf-8")
        return subprocess.run(
            ["bash", "--noprofile", "--norc", "-e", "-o", "pipefail", script],
            cwd=self.work, env={**os.environ, **host, **own, **more}, capture_output=True, text=True, timeout=300,
            check=False,
        )  # fmt: skip

    @property
    def outputs(self) -> dict[str, str]:
        """The outputs of the step."""
        return dict(line.split("=", 1) for line in self.output.read_text(encoding="utf-8").splitlines())


def _filled(text: str, inputs: dict[str, str]) -> str:
    """An expression of the environment of a step: an input, or the Python that another step found."""
    (name,) = EXPRESSION.findall(text)
    return sys.executable if name == "steps.python.outputs.python-path" else inputs[name.removeprefix("inputs.")]


@pytest.fixture
def job(tmp_path: Path) -> Job:
    """A job in which Holdfast is installed."""
    made = Job(tmp_path)
    (made.temp / "holdfast").symlink_to(sys.prefix)
    return made


def test_what_inputs_say_never_becomes_script() -> None:
    scripts = [step["run"] for step in STEPS if "run" in step]
    assert len(scripts) == 2
    assert not any(EXPRESSION.search(script) for script in scripts)
    for step in STEPS:
        used = EXPRESSION.findall(str(step.get("env", {})) + str(step.get("with", {})))
        names = [name.removeprefix("inputs.") for name in used if name.startswith("inputs.")]
        assert set(names) <= set(ACTION["inputs"])


def test_rules_that_hold(job: Job) -> None:
    done = job.run("Check", {"sources": "good data.csv"})
    assert (done.returncode, "key(id)" in done.stdout) == (0, True), done.stderr
    assert "### Holdfast: passed" in job.summary.read_text(encoding="utf-8")
    assert job.outputs["exit-code"] == "0"
    assert all(Path(job.outputs[name]).is_file() for name in ("junit", "sarif"))


def test_rules_that_are_violated(job: Job) -> None:
    done = job.run("Check", {"sources": "\nfirst=bad.csv\n\n", "options": "--limit\n1\n"})
    assert done.returncode == 1, done.stderr
    assert "row 1: age -3" in job.summary.read_text(encoding="utf-8")
    assert job.outputs["exit-code"] == "1"


def test_redacted(job: Job) -> None:
    job.run("Check", {"sources": "bad.csv", "redact": "true"})
    assert "-3" not in job.summary.read_text(encoding="utf-8")


@pytest.mark.parametrize("words", ["$(touch here)", "`touch here`", "; touch here", "--help", '"; touch here; "', "*"])
def test_hostile_inputs_are_words_and_no_commands(job: Job, words: str) -> None:
    for inputs in (
        {"sources": words},
        {"sources": "bad.csv", "rules": words},
        {"sources": "bad.csv", "options": words},
    ):
        done = job.run("Check", inputs)
        assert done.returncode == (0 if inputs.get("options") == "--help" else 2), done.stderr
    assert not (job.work / "here").exists()


def test_it_installs_itself(tmp_path: Path) -> None:
    """From the action's own folder, with the requirements of this environment instead of an index."""
    job, own = Job(tmp_path), copy_project(tmp_path / "action")
    offline = {
        "GITHUB_ACTION_PATH": str(own),
        "PIP_NO_INDEX": "1",
        "PIP_NO_DEPS": "1",
        "PIP_NO_BUILD_ISOLATION": "0",  # which means: without isolation
        "PYTHONPATH": next(each for each in sys.path if each.endswith("site-packages")),
    }
    done = job.run("Install", {}, **offline)
    assert done.returncode == 0, done.stderr
    done = job.run("Check", {"sources": "good data.csv"}, PYTHONPATH=offline["PYTHONPATH"])
    assert done.returncode == 0, done.stderr
