"""Rule files: what they give, how they are kept, and where an error says that it is."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

import holdfast.rules.file as rule_files
from holdfast.errors import BadInput
from holdfast.rules.file import RuleEntry, read_rules, rules_of, schema_text

FAIR = "not(t.State = s.State and t.Salary > s.Salary and t.Rate < s.Rate)"
WHOLE = f"""\
rules:
  - name: fair
    table: tax            # may be left out where there is one table
    rule: "{FAIR}"
    severity: error       # or warn
    note: who earns more pays no lower rate
  - {{name: zip, rule: "Zip -> State"}}
  - rule: not(t1.Age < 0)
    severity: warn
  - rule: >
      !(t.Zip == s.Zip
      & t.City <> s.City)
ordered: [Grade, Size]
"""


_A = "  - {name: a, rule: 'not(t.A = s.A)'}\n"


def _written(folder: Path, text: str) -> Path:
    path = folder / "rules.yaml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_whole_file(tmp_path: Path) -> None:
    rules = read_rules(_written(tmp_path, WHOLE))
    assert rules.entries == (
        RuleEntry("fair", "tax", FAIR, "error", "who earns more pays no lower rate"),
        RuleEntry("zip", "", "Zip -> State"),
        RuleEntry("dc1", "", "not(t.Age < 0)", "warn"),
        RuleEntry("dc2", "", "not(t.Zip = s.Zip and t.City != s.City)"),
    )
    assert [entry.where.rpartition("/")[2] for entry in rules.entries] == [
        f"rules.yaml, line {line}" for line in (4, 7, 8, 10)
    ]
    assert rules.ordered_in("tax") == rules.ordered_in("any") == {"Grade", "Size"}


def test_ordered_by_table(tmp_path: Path) -> None:
    rules = read_rules(_written(tmp_path, "rules:\n" + _A + "ordered: {tax: [Grade], people: [Size]}"))
    assert rules.ordered_in("tax") == {"Grade"}
    assert rules.ordered_in("people") == {"Size"}
    assert rules.ordered_in("other") == frozenset()


def test_json_is_read_too(tmp_path: Path) -> None:
    path = _written(tmp_path, json.dumps({"rules": [{"name": "a", "rule": "not(t.A = s.A)"}]}))
    assert read_rules(path).entries == (RuleEntry("a", "", "not(t.A = s.A)"),)


def test_names_given_leave_room_for_names_made(tmp_path: Path) -> None:
    text = "rules:\n" + "".join(
        f"  - {{rule: 'not(t.A = {i})'{', name: ' + name if name else ''}}}\n"
        for i, name in enumerate(["", "dc1", "", "x", ""])
    )
    names = [entry.name for entry in read_rules(_written(tmp_path, text)).entries]
    assert names == ["dc2", "dc1", "dc3", "x", "dc4"]


def test_rules_without_a_file() -> None:
    rules = rules_of(["not(t.A = s.A)", "Zip->State", "key( Zip )", "() -> State", "what?"])
    assert [entry.name for entry in rules.entries] == ["dc1", "fd1", "key1", "fd2", "rule1"]
    assert [entry.text for entry in rules.entries][1:4] == ["Zip -> State", "key(Zip)", "() -> State"]
    assert rules_of("not(t.A = s.A)").entries == rules.entries[:1]
    with pytest.raises(BadInput, match=r"rules: rule 'dc2': expected an operator after t\.A"):
        rules_of(["not(t.A = s.A)", "not(t.A)"])
    with pytest.raises(BadInput, match="rule 1: the rule is empty; write one"):
        rules_of([" "])
    with pytest.raises(BadInput, match="there are no rules; give at least one"):
        rules_of([])


@pytest.mark.parametrize(
    "name", ["not", "NOT", "key", "and", "t", "in", "a b", "a,b", "a -> b", 'say "hi"', "not(", "->"]
)
def test_columns_of_any_name_stand_in_rules(name: str) -> None:
    """As they are written, and as the texts of results."""
    written = '"' + name.replace('"', '""') + '"'
    texts = [f"{written} -> b", f"{written}, b -> c", f"b -> {written}", f"key({written})", f"not(t.{written} = 1)"]
    rules = rules_of(texts)
    assert [entry.name for entry in rules.entries] == ["fd1", "fd2", "fd3", "key1", "dc1"]
    again = rules_of([entry.text for entry in rules.entries])
    assert again == rules
    assert [entry.text for entry in again.entries] == [entry.text for entry in rules.entries]


def test_the_json_schema_is_current() -> None:
    shipped = Path(rule_files.__file__).with_name("rules.schema.json").read_text(encoding="utf-8")
    assert shipped == schema_text(), "renew it: python -m holdfast.rules.file > src/holdfast/rules/rules.schema.json"


def test_the_json_schema_says_what_the_reader_accepts() -> None:
    schema = json.loads(schema_text())
    rule = schema["$defs"]["RuleModel"]
    assert set(rule["properties"]) == {"name", "table", "rule", "severity", "note"}
    assert rule["required"] == ["rule"]
    assert rule["properties"]["severity"]["enum"] == ["error", "warn"]
    assert (rule["additionalProperties"], schema["additionalProperties"]) == (False, False)


# ---- errors ---------------------------------------------------------------------------------------------------------

ERRORS = [
    ("", "", "the file is empty; start it with rules:"),
    ("# nothing\n", "", "the file is empty; start it with rules:"),
    ("- a\n", ", line 1", "expected keys and values; start the file with rules:"),
    ("ordered: []\n", ", line 1", "the key 'rules' is missing; add it"),
    ("rules:\n", ", line 1", "rules must be a list; start each rule with a dash"),
    ("rule:\n" + _A, ", line 1", "the key 'rules' is missing; add it"),
    ("rules:\n" + _A + "order: [A]\n", ", line 3", "there is no key 'order'; did you mean 'ordered'?"),
    ("rules:\n  - not(t.A = s.A)\n", ", line 2", "rule 1: expected keys and values, such as name: and rule:, not 'not"),
    ("rules:\n  - name: a\n", ", line 2", "rule 'a': the key 'rule' is missing; add it"),
    (
        "rules:\n" + _A + "  - name: b\n    rul: x\n    rule: y\n",
        ", line 4",
        "rule 'b': there is no key 'rul'; did you mean",
    ),
    ("rules:\n  - rule: x\n    name: 5\n", ", line 3", "rule 1: name must be text, not 5; put it in quotes"),
    ("rules:\n  - rule: x\n    name: ' a'\n", ", line 3", "rule ' a': name must be one line that neither starts nor"),
    ("rules:\n  - name: a\n    rule: ' '\n", ", line 3", "rule 'a': the rule is empty; write one"),
    ("rules:\n  - name: a\n    rule: true\n", ", line 3", "rule 'a': rule must be text, not True; put it in quotes"),
    (
        "rules:\n  - name: a\n    rule: x\n    severity: fatal\n",
        ", line 4",
        "rule 'a': severity must be error or warn, not 'fatal'",
    ),
    ("rules:\n" + _A + _A, ", line 3", "rule 'a': the name is taken (F, line 2); choose another"),
    (
        "rules:\n  - name: a\n    rule: not(t.A s.A)\n",
        ", line 3",
        "rule 'a': expected an operator after t.A\n  not(t.A s.A)\n          ^",
    ),
    ("rules:\n  - rule: not(t.A = s.A\n", ", line 2", "rule 'dc1': expected ) after s.A"),
    (
        "rules: []\nordered: Grade\n",
        ", line 2",
        "ordered must be a list of column names, or such a list for each table",
    ),
    ("rules: []\nordered:\n  - Grade\n  - 5\n", ", line 4", "ordered must be a list of column names"),
    ("rules: []\nordered:\n  tax: Grade\n", ", line 3", "ordered must be a list of column names"),
    # YAML
    ("rules:\n  - name: a\n   rule: x\n", ", line 3", "not readable as YAML"),
    ("rules:\n  - rule: {A}: B\n", ", line 2", "put rules in double quotes"),
    ("rules:\n  - name: a\n    rule: !(t.A == s.A)\n", ", line 3", "YAML takes ! at the start for a tag"),
    ("rules:\n  - name: a\n    rule: ! (t.A == s.A)\n", ", line 3", "YAML takes ! at the start for a tag"),
    ("rules:\n  - name: a\n    rule: x\n    rule: y\n", ", line 4", "the key 'rule' is there twice; remove one"),
    ("rules: []\n---\nrules: []\n", ", line 2", "not readable as YAML"),
    ("rules: [2020-13-45]\n", "", "not readable as YAML"),
    ("rules: \x07\n", "", "not readable as YAML"),
    ("[" * 5000, ", line 1", "nested deeper than 20 levels"),
    ("rules: &a [*a]\n", ", line 1", "this alias refers to itself; write the value out"),
    ("rules: []\n", ", line 1", "there are no rules; write at least one under rules:"),
    ("rules: []\nordered: [A]\n", ", line 1", "there are no rules; write at least one under rules:"),
    ("rules: [{rule: [a, b]}]\n", ", line 1", "rule 1: rule must be text, not a list; put it in quotes"),
    ("rules: [{rule: {a: b}}]\n", ", line 1", "rule 1: rule must be text, not keys and values; put it in quotes"),
    (f"rules: [{{rule: {'x' * 10_001}}}]\n", ", line 1", "rule 1: rule is longer than 10000 characters; make it"),
    (f"rules: [{{name: {'x' * 201}, rule: x}}]\n", ", line 1", "name is longer than 200 characters; make it shorter"),
]


@pytest.mark.parametrize(("text", "line", "sentence"), ERRORS, ids=[repr(text[:50]) for text, _, _ in ERRORS])
def test_errors_name_the_file_the_line_and_the_rule(tmp_path: Path, text: str, line: str, sentence: str) -> None:
    path = _written(tmp_path, text)
    with pytest.raises(BadInput) as caught:
        read_rules(path)
    said = str(caught.value).replace(str(path), "F")
    assert said.startswith(f"F{line}: ")
    assert sentence in said


def test_files_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="there is no such file; check the path"):
        read_rules(tmp_path / "none.yaml")
    with pytest.raises(BadInput, match="this is a folder; name a file in it"):
        read_rules(tmp_path)
    path = tmp_path / "latin.yaml"
    path.write_bytes("rules: [] # Größe".encode("latin-1"))
    with pytest.raises(BadInput, match="byte 14 is not UTF-8; save the file as UTF-8"):
        read_rules(path)


def _bomb(levels: int) -> str:
    """Each level is a list of ten of the one before: 10 ** levels texts in a file of a few lines."""
    lines = ["a0: &a0 [" + ", ".join(["x"] * 10) + "]"]
    lines += [f"a{n}: &a{n} [" + ", ".join([f"*a{n - 1}"] * 10) + "]" for n in range(1, levels)]
    return "\n".join([*lines, f"rules: [{{rule: *a{levels - 1}}}]", ""])


@pytest.mark.parametrize("levels", [6, 11, 400])
def test_aliases_of_aliases_are_refused_before_they_are_followed(tmp_path: Path, levels: int) -> None:
    with pytest.raises(BadInput, match=r"line 6: with its aliases, the file has more than 200,000 values"):
        read_rules(_written(tmp_path, _bomb(levels)))


def test_merged_keys_count_as_what_they_name(tmp_path: Path) -> None:
    lines = ["a0: &a0 {" + ", ".join(f"k{i}: x" for i in range(10)) + "}"]
    lines += [f"a{n}: &a{n} {{<<: [" + ", ".join([f"*a{n - 1}"] * 10) + "]}" for n in range(1, 11)]
    with pytest.raises(BadInput, match="with its aliases, the file"):
        read_rules(_written(tmp_path, "\n".join(lines)))


def test_what_is_huge_is_refused_in_a_few_words(tmp_path: Path) -> None:
    huge = "x" * 900_000
    for text in (
        f"rules: [{{rule: {huge}}}]", f"rules: [{{name: {huge}, rule: x}}]", f"{huge}: 1", f"rules: {huge}",
        f"rules: [{{rule: x, severity: {huge}}}]", f"rules: [{huge}]", f"rules: !!{huge} x", f"rules: *{huge}",
        f"{huge}: 1\n{huge}: 2", f"rules: [{{rule: {'9' * 4000}}}]", f"rules: [{{rule: x, {huge}: 1}}]",
    ):  # fmt: skip
        with pytest.raises(BadInput) as caught:
            read_rules(_written(tmp_path, text))
        assert len(str(caught.value)) < 500 + len(str(tmp_path))
    with pytest.raises(BadInput, match="larger than 1 MiB, too large for rules; split it"):
        read_rules(_written(tmp_path, "# " + "x" * (1 << 20)))


def test_tags_of_yaml_itself_and_aliases_and_a_byte_order_mark_are_fine(tmp_path: Path) -> None:
    text = "\ufeffrules:\n  - &first {name: !!str 2020, rule: 'not(t.A = s.A)'}\n  - {<<: *first, name: b}\n"
    assert [entry.name for entry in read_rules(_written(tmp_path, text)).entries] == ["2020", "b"]
