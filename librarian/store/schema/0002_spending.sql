-- What a run cost, in millionths of a US dollar, as far as prices are known.
ALTER TABLE runs ADD COLUMN cost BIGINT NOT NULL DEFAULT 0;
CREATE INDEX runs_principal ON runs (principal, created_at);
CREATE INDEX runs_repo ON runs (repo, created_at);
