"""Readers of text and local files, without Spark; they give Arrow tables.

`records` splits CSV bytes into records, `dialect` guesses how a file is written, `grammar` says which texts are
values of which type, `numerals` which numbers a float stands for, `inference` decides types and casts, `local` reads
whole files, `jsonlines` those of JSON, and `bad_records` finds records that are no rows.
"""
