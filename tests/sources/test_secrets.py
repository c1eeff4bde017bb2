"""Addresses without their secrets, and where user and password may come from."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from holdfast.errors import BadInput
from holdfast.intake.source import ReadOptions, open_source
from holdfast.sources.secrets import read_properties, redacted, secrets_of, with_environment

WORD = "s3cr:et/w@rd"
ADDRESSES = [
    "jdbc:postgresql://ann:{}@host:5432/db?ssl=true",
    "jdbc:postgresql://host/db?user=ann&password={}",
    "jdbc:postgresql://host/db?password={}&user=ann",
    "jdbc:sqlserver://host:1433;databaseName=db;user=ann;password={};encrypt=true",
    "jdbc:sqlserver://host;Pwd={}",
    "jdbc:mysql://host/db?user=ann&PASSWORD={}",
    "jdbc:oracle:thin:ann/{}@//host:1521/db",
    "jdbc:oracle:thin:ann/{}@host:1521:db",
    "jdbc:snowflake://x.y.com/?user=ann&authenticator=oauth&token={}",
    "jdbc:databricks://host:443/default;AuthMech=3;UID=token;PWD={}",
    "jdbc:redshift://host/db?sslkeypassword={}&clientSecret=x",
    "jdbc:hive2://host/db;trustStorePassword={}?hive.x=1",
    "mysql://ann:{}@host/db",
]
words = st.text(st.characters(codec="ascii", categories=["L", "N", "P", "S"], exclude_characters="&;{}'\\"), min_size=4)


@pytest.mark.parametrize("address", ADDRESSES)
@given(word=words)
def test_no_secret_is_left(address: str, word: str) -> None:
    url = address.format(f"q{word}z")
    shown = redacted(f"{url}: Spark can't read it: no suitable driver for {url}, sorry")
    assert f"q{word}z" not in shown
    assert "host" in shown or "x.y.com" in shown
    assert "***" in shown


@given(st.sampled_from(ADDRESSES), words)
@example("jdbc:hive2://host/db;trustStorePassword={}?hive.x=1", "0?00")
def test_a_driver_may_repeat_the_secret_alone(address: str, word: str) -> None:
    url = address.format(f"q{word}z")
    if "=" in address.partition("{}")[0].rpartition(":")[2]:
        assert f"q{word}z" not in redacted(f"login failed with q{word}z", secrets_of(url, {}))
    assert f"q{word}z" not in redacted(f"login with 'q{word}z'", secrets_of("jdbc:x", {"password": f"q{word}z"}))


@pytest.mark.parametrize(
    "plain",
    [
        "jdbc:postgresql://host:5432/db?user=ann&ssl=true things",
        "/data/a@b/c.csv: there is no such file",
        "s3://bucket/a:b/c@d.parquet",
        "people.csv, line 3: 'x=1' is not a whole number",
        "jdbc:derby:memory:things;create=true",
    ],
)
def test_what_is_no_secret_stays(plain: str) -> None:
    assert redacted(plain) == plain


def test_user_and_password_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    assert with_environment({"fetchsize": "10"}) == {"fetchsize": "10"}
    monkeypatch.setenv("HOLDFAST_JDBC_USER", "ann")
    monkeypatch.setenv("HOLDFAST_JDBC_PASSWORD", WORD)
    assert with_environment({"fetchsize": "10"}) == {"fetchsize": "10", "user": "ann", "password": WORD}
    assert with_environment({"user": "bob"}) == {"user": "bob", "password": WORD}


def test_a_file_of_properties(tmp_path: Path) -> None:
    path = tmp_path / "db.properties"
    path.write_text(f"# a comment\n! another\n\nuser = ann\npassword={WORD}\n driver: org.x.Driver \nempty=\n")
    assert read_properties(path) == {"user": "ann", "password": WORD, "driver": "org.x.Driver", "empty": ""}
    path.write_text(f"user=ann\n{WORD.replace(':', '')}\n")
    with pytest.raises(BadInput, match=r"db\.properties, line 2: not a property") as caught:
        read_properties(path)
    assert "w@rd" not in str(caught.value)
    with pytest.raises(BadInput, match="can't be read"):
        read_properties(tmp_path / "none")


def test_options_do_not_show_properties() -> None:
    assert WORD not in repr(ReadOptions(jdbc_table="t", jdbc_properties={"password": WORD}))


@pytest.mark.parametrize("prefix", ["jdbc", "jbdc"])
def test_a_mistake_does_not_show_the_address(prefix: str) -> None:
    for address in ADDRESSES[:6]:
        with pytest.raises(BadInput) as caught:
            open_source(address.format(WORD).replace("jdbc", prefix), ReadOptions(), None)
        assert "w@rd" not in str(caught.value)
        assert "et/w" not in str(caught.value)
