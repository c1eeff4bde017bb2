"""The encoded table: types, images, dictionaries, shards, row ids."""
