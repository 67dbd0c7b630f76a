"""Item models: what the service tells, as rows of tables."""
