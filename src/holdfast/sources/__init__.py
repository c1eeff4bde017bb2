"""Text and local files in, Arrow tables out; nothing here knows of Spark.

`records` splits CSV bytes into records, `dialect` guesses how a file is written, `grammar` says which texts are
values of which type, `numerals` which numbers a float stands for, `infer` decides types and casts, `local` reads whole
files, `jsonlines` those of JSON.
"""
