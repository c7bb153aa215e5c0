"""Batch endpoints of providers: calls that wait until many go out at once, at a lower price."""
