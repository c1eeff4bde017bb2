"""Notifications: the verdict on a batch is sent to a file, a command or a webhook, after the batch is stored.

A message is put into the outbox of the state first and removed when it was delivered, so it arrives at least once; its
`id` says which messages are the same. Sending happens in threads of its own and never holds up a batch.
"""
