"""What tests need: said here, so that `make quick` can leave out what takes long or may not be at hand.

A test needs Spark, a browser or PostgreSQL where it asks for their fixtures, or is marked so. All others are listed by
file, or by file and test.
"""

from __future__ import annotations

import pytest

FIXTURES = ("spark", "browser", "postgres")
PROCESSES = """
    test_action.py
    test_examples.py
    benchmarks/test_frame.py
    benchmarks/test_versions.py
    cli/test_bad_state.py::test_a_state_locked_by_a_living_process
    cli/test_complete.py::test_outputs_on_a_read_only_disk
    cli/test_exit.py
    cli/test_interrupted.py
    cli/test_kill.py
    cli/test_kill_folder.py
    cli/test_kill_tables.py
    cli/test_notify.py::test_secrets_are_in_no_file_of_the_state_no_output_and_no_process_list
    cli/test_notify.py::test_a_killed_command_leaves_its_message_to_the_next_one
    cli/test_notify.py::test_a_batch_whose_process_was_killed_before_its_verdict
    cli/test_pipes.py
    cli/test_quarantine.py::test_killed_before_a_file_or_a_transaction_reaches_the_disk
    cli/test_read_only.py::test_a_state_on_a_read_only_disk
    cli/test_start.py
    cli/test_watch.py::test_a_watch_ends_when_nobody_reads
    cli/test_watch_long.py::test_sigterm_ends_a_watch_after_the_batch
    engines/test_toy.py
    kernels/test_jit.py
    recipes/test_recipes.py::test_dbt
    serve/test_server.py
    spark/test_places.py
    spark/test_session.py
    store/test_backup.py::test_backups_while_a_writer_works
    store/test_store.py::test_a_killed_init_can_be_run_again
    test_wheel.py
"""
LONG = """
    api/test_changes.py::test_a_dead_process_leaves_the_state_before_a_change_or_after_it
    api/test_checkpoints.py::test_a_checkpoint_that_does_not_fit_is_not_tried_with_every_batch
    api/test_checkpoints.py::test_many_batches_make_few_files
    benchmarks/test_data.py
    engines/column/test_column.py::test_text_order_survives_new_labels
    benchmarks/test_papers.py::test_every_figure_runs_quickly_and_right
    cli/test_completion.py
    engines/denial/test_differential.py
    engines/denial/test_engine_paper.py::test_deleted_rows_stay_deleted_without_an_equality
    engines/denial/test_index_files.py
    engines/functional/test_key_index.py::test_processes_go_on_with_files
    engines/pointwise/test_cross.py::test_columns_of_text
    engines/pointwise/test_cross.py::test_every_batch_by_definition
    seasons/test_planted.py
    seasons/test_quiet.py
    shop/test_days.py
    engines/functional/test_peers.py
    engines/given/test_keepers.py::test_pieces_of_a_cut_add_up_to_the_whole
    engines/given/test_keepers.py::test_what_looked_at_batches_is_what_begins_after_them
    engines/inclusion/test_tpch.py
    engines/order/test_likely.py::test_of_a_wide_table_it_is_said_how_much_was_looked_at
    engines/order/test_peers.py
    engines/pointwise/test_never_sets.py::test_many_columns
    engines/pointwise/test_reference.py
    engines/pointwise/test_real.py
    engines/pointwise/test_tall.py
    intake/test_folder.py::test_watching_goes_on_until_it_is_stopped
    laws/test_growth.py
    laws/test_long_lives.py
    laws/test_soak.py
    pairs/test_multiset_rows.py
    kernels/test_sightings.py::test_many_rows
    rules/test_file.py::test_what_is_huge_is_refused_in_a_few_words
    sources/test_datasets.py::test_text_equals_the_csv_module_and_nulls_equal_the_markers
    sources/test_local.py::test_quotes_that_are_never_closed
    spark/test_speculation.py
    api/test_memory.py::test_a_thousand_batches_with_fifty_rules_are_small
    store/test_sums.py::test_bits_that_turn_anywhere
    api/test_vacuum.py::test_readers_look_while_tables_are_rewritten
    api/test_verification.py::test_no_bit_that_turns_changes_an_answer
    api/test_verification.py::test_no_bit_that_turns_changes_what_a_batch_does
    table/test_checks.py::test_a_bit_that_turned_is_no_answer
    table/test_order.py::test_thousands_one_by_one
"""
LISTED = dict.fromkeys(PROCESSES.split(), "process") | dict.fromkeys(LONG.split(), "long")


def mark(item: pytest.Item) -> None:
    """Give a test the markers that say what it needs."""
    for name in FIXTURES:
        if name in getattr(item, "fixturenames", ()):
            item.add_marker(name)
    file, _, test = item.nodeid.partition("::")
    file = file.removeprefix("tests/")
    for place in (file, f"{file}::{test.partition('[')[0]}"):
        if place in LISTED:
            item.add_marker(LISTED[place])
