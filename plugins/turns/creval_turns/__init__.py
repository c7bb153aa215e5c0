"""Several questions in one conversation: the protocol `turns` and the scorer `each_turn`."""
