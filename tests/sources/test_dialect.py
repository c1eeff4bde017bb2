"""Sniffing recovers how a file was written, and says what it guessed."""

import csv
import io
import json
import pickle
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.sources.dialect import CsvOptions, Dialect, HeadTooShort, as_before, sniff

FREE = CsvOptions()


def guess(text: str | bytes, options: CsvOptions = FREE, complete: bool = True) -> Dialect:
    return guess_with_notes(text, options, complete)[0]


def guess_with_notes(text: str | bytes, options: CsvOptions = FREE, complete: bool = True) -> tuple[Dialect, list[str]]:
    data = text.encode() if isinstance(text, str) else text
    return sniff(data, options, complete=complete, name="f.csv")


def written(rows: list[list[str]], **form: Any) -> bytes:
    out = io.StringIO(newline="")
    csv.writer(out, **form).writerows(rows)
    return out.getvalue().encode()


@st.composite
def files(draw: st.DrawFn) -> tuple[bytes, Dialect]:
    """A file with a header as csv.writer writes it, and its dialect."""
    separator = draw(st.sampled_from(",;\t|"))
    quote = draw(st.sampled_from("\"'"))
    everything = quote == "'" or draw(st.booleans())
    # Where only some fields are quoted, another separator inside would be as good a guess.
    alphabet = "aé 1.,;\t|\n\r'" if everything else f"aé 1.{separator}\n"
    cell = st.text(alphabet=alphabet if quote == "'" else alphabet + '"', max_size=6)
    names = draw(st.lists(cell.map("n".__add__), min_size=2, max_size=5, unique=True))
    rows = draw(st.lists(st.lists(cell, min_size=len(names), max_size=len(names)), max_size=6))
    eol = draw(st.sampled_from(["\n", "\r\n"]))
    quoting = csv.QUOTE_ALL if everything else csv.QUOTE_MINIMAL
    form = {"delimiter": separator, "quotechar": quote, "quoting": quoting, "lineterminator": eol}
    return written([names, *rows], **form), Dialect(separator, quote, True, tuple(names))


@settings(deadline=None, max_examples=120)
@given(files())
def test_recovers_what_csv_writer_wrote(file: tuple[bytes, Dialect]) -> None:
    data, dialect = file
    assert guess(data) == dialect
    assert guess(b"\xef\xbb\xbf" + data) == dialect


@pytest.mark.parametrize("separator", [",", ";", "\t", "|"])
def test_each_separator(separator: str) -> None:
    assert guess(f"a{separator}b\n1{separator}2\n").separator == separator


def test_decimal_commas_do_not_win() -> None:
    assert guess("a;b\n1,5;2,5\n3,5;4,5\n").separator == ";"


def test_one_bad_record_does_not_change_the_separator() -> None:
    assert guess("a;b\n1;2\n3\n4;5\n6,7\n").separator == ";"


@pytest.mark.parametrize("text", ["a\n1\n2\n", "text\nhello, world\nbye\nso\n", "tags\nx|y\nz|w\n", "a"])
def test_a_single_column_has_a_comma(text: str) -> None:
    dialect = guess(text)
    assert (dialect.separator, len(dialect.names)) == (",", 1)


def test_apostrophes_quote_only_where_they_close() -> None:
    assert guess("'a','b'\n'x,y','z'\n").quote == "'"
    assert guess("city,n\n's-Hertogenbosch,1\n't Harde,2\n").quote == '"'
    assert guess("name,n\nO'Neil,1\n'80s,2\n").quote == '"'


@pytest.mark.parametrize(
    "cell",
    ["1", "-2.5", "+3", ".5", "1e5", "007", "2020-01-31", "2020-01-31 10:00", "2020-01-31T10:00:00Z", "", " "],
)
def test_a_cell_of_data_means_no_header(cell: str) -> None:
    dialect = guess(f"a,{cell},b\n")
    assert not dialect.header
    assert dialect.names == ("c1", "c2", "c3")


@pytest.mark.parametrize("cell", ["a1", "1st", "2020-13-01", "1.2.3", "true", "nan", "x y"])
def test_other_cells_are_names(cell: str) -> None:
    assert guess(f"a,{cell}\n").names == ("a", cell)


def test_a_given_header_is_not_doubted() -> None:
    assert guess("1,\n", CsvOptions(header=True)).names == ("1", "c2")
    assert guess("a,b\n", CsvOptions(header=False)).names == ("c1", "c2")


def test_odd_names_are_fine() -> None:
    names = ["Zip", "ZIP", "a b", "a.b", 'say "x"', "naïve", "two\nlines", " lead"]
    assert guess(written([names])).names == tuple(names)


def test_the_same_name_twice_is_refused() -> None:
    with pytest.raises(BadInput, match=r"f\.csv: columns 1 and 3 are both named 'a'"):
        guess("a,b,a\n")


@pytest.mark.parametrize("text", ["", "\n\n", b"\xef\xbb\xbf", b"\xef\xbb\xbf\r\n"])
def test_an_empty_file_has_no_columns(text: str | bytes) -> None:
    dialect, notes = guess_with_notes(text)
    assert dialect.names == ()
    assert notes == []


def test_a_cut_head_loses_its_last_line() -> None:
    assert guess("a,b\n1,2\n3", complete=False).names == ("a", "b")
    assert guess(b"a,b\n1,\xc3", complete=False).names == ("a", "b")
    assert guess('a,b\n1,"x\ny', complete=False).names == ("a", "b")


@pytest.mark.parametrize("text", ["a,b", 'a,"b\nc', "\n\na"])
def test_a_head_without_a_whole_record_is_too_short(text: str) -> None:
    with pytest.raises(HeadTooShort):
        guess(text, complete=False)


def test_bytes_that_are_not_utf8_are_refused() -> None:
    with pytest.raises(BadInput, match=r"f\.csv, line 2: the byte 0xff at offset 5"):
        guess(b"a,b\n1\xff,2\n")


def test_notes_say_what_was_guessed() -> None:
    assert guess_with_notes("a,b\n")[1] == ["separator ',', header row, quote '\"'"]
    assert guess_with_notes("1;2\n")[1] == [
        "guessed the separator ';'",
        "guessed that there is no header row",
        "separator ';', no header row, quote '\"'",
    ]
    assert "guessed the separator tab" in guess_with_notes("a\tb\n")[1]
    assert 'guessed the quote "\'"' in guess_with_notes("'a','b'\n")[1]
    given_all = CsvOptions(separator=";", quote='"', header=True)
    assert guess_with_notes("a;b\n", given_all)[1] == []
    assert guess_with_notes("a;\n", given_all)[1] == ["column 2 has no name and is called c2"]


def test_given_options_are_kept() -> None:
    assert guess("a;b,c\n", CsvOptions(separator=",")).names == ("a;b", "c")
    assert guess('"a,b"\n', CsvOptions(quote="")).names == ('"a', 'b"')
    assert guess("~a,b~,c\n", CsvOptions(quote="~")).names == ("a,b", "c")


@pytest.mark.parametrize(
    "plain", [{"separator": ",,"}, {"separator": "\n"}, {"separator": "é"}, {"quote": "''"}, {"types": "no"}]
)
def test_useless_options_are_refused(plain: dict[str, Any]) -> None:
    with pytest.raises(BadInput):
        CsvOptions.from_dict(plain)


def test_separator_and_quote_must_differ() -> None:
    with pytest.raises(BadInput, match="both"):
        CsvOptions(separator="'", quote="'")


@pytest.mark.parametrize("options", [FREE, CsvOptions(";", "'", False, ("NA", "\\N"), "text"), CsvOptions(nulls=())])
def test_options_survive_json_and_pickle(options: CsvOptions) -> None:
    assert CsvOptions.from_dict(json.loads(json.dumps(options.to_dict()))) == options
    assert pickle.loads(pickle.dumps(options)) == options


# ---- as before -------------------------------------------------------------------------------------------------------

BEFORE = CsvOptions(separator=";", quote='"')


@pytest.mark.parametrize(
    ("head", "given", "then"),
    [
        ("id;name\n1;a,b\n", FREE, (";", '"')),
        ("name;id;op\na;1;insert\n", FREE, (";", '"')),
        ('"id";name\n1;"a;b"\n', FREE, (";", '"')),
        ("id,name\n1,a;b\n", FREE, (None, None)),  # these are no columns of the table: guess again
        ("1;a\n2;b\n", FREE, (None, None)),
        ("id;name\n1;'a;b'\n", FREE, (None, None)),  # perhaps quotes of another kind
        ("", FREE, (None, None)),
        ("id;name\n1;'a'\n", CsvOptions(quote="'"), (";", "'")),
        ("id;name\n1;'a'\n", CsvOptions(quote=""), (";", "")),
        ("id|name\n1|a\n", CsvOptions(separator="|"), ("|", '"')),  # what is given counts
        ("id;name\n", CsvOptions(quote=";"), (None, ";")),
    ],
)
def test_a_file_is_read_as_those_before_unless_it_shows_otherwise(
    head: str, given: CsvOptions, then: tuple[str | None, str | None]
) -> None:
    found = as_before(head.encode(), given, BEFORE, ["id", "name", "op"])
    assert (found.separator, found.quote) == then
    assert found.nulls == given.nulls
    for nothing in (None, FREE, CsvOptions(separator=";")):
        assert as_before(head.encode(), given, nothing, ["id", "name"]) is given
