-- Times are microseconds since 1970-01-01 UTC. Written for SQLite and PostgreSQL alike; the word BLOB becomes BYTEA there.

-- One row for each run. key and ordinal: the runs of one request are numbered from 1.
CREATE TABLE runs (
    id               TEXT   NOT NULL PRIMARY KEY,
    key              TEXT   NOT NULL,
    ordinal          BIGINT NOT NULL,
    kind             TEXT   NOT NULL,
    request          BLOB   NOT NULL,
    state            TEXT   NOT NULL,
    state_at         BIGINT NOT NULL,
    attempt          BIGINT NOT NULL DEFAULT 0,
    cancel_requested BIGINT NOT NULL DEFAULT 0,
    -- The lease: held until lease_until by lease_owner; NULL when nobody holds it. lease_began is 1 once the holder has
    -- begun an attempt, tries counts the leases taken in the present state.
    lease_until      BIGINT,
    lease_owner      TEXT,
    lease_began      BIGINT NOT NULL DEFAULT 0,
    tries            BIGINT NOT NULL DEFAULT 0,
    -- No lease is given before not_before. When a run without a lease must have been touched again is wake_at; NULL: never.
    -- job is the queue's number of its newest job.
    not_before       BIGINT NOT NULL DEFAULT 0,
    wake_at          BIGINT,
    job              BIGINT NOT NULL DEFAULT 0,
    installation     BIGINT NOT NULL,
    repo             TEXT   NOT NULL,
    number           BIGINT NOT NULL,
    trigger_kind     TEXT   NOT NULL,
    trigger_id       BIGINT NOT NULL,
    principal        BIGINT NOT NULL,
    last_seq         BIGINT NOT NULL DEFAULT 0,
    created_at       BIGINT NOT NULL,
    updated_at       BIGINT NOT NULL
);

CREATE UNIQUE INDEX runs_key ON runs (key, ordinal);
CREATE INDEX runs_thread ON runs (repo, number, created_at);
CREATE INDEX runs_trigger ON runs (repo, trigger_kind, trigger_id);
CREATE INDEX runs_created ON runs (created_at);
CREATE INDEX runs_installation ON runs (installation);
CREATE INDEX runs_lease ON runs (lease_until) WHERE lease_until IS NOT NULL;
CREATE INDEX runs_wake ON runs (wake_at) WHERE wake_at IS NOT NULL;

-- The runs' logs: append-only, seq from 1 without gaps as written.
CREATE TABLE events (
    run     TEXT   NOT NULL REFERENCES runs (id) ON DELETE CASCADE,
    seq     BIGINT NOT NULL,
    at      BIGINT NOT NULL,
    attempt BIGINT NOT NULL,
    kind    TEXT   NOT NULL,
    data    BLOB   NOT NULL,
    PRIMARY KEY (run, seq)
);

CREATE INDEX events_at ON events (kind, at);

-- Deliveries seen. A delivery outlives its run when that is forgotten, so that a redelivery does not bring it back.
CREATE TABLE deliveries (
    id    TEXT   NOT NULL PRIMARY KEY,
    event TEXT   NOT NULL,
    at    BIGINT NOT NULL,
    run   TEXT   REFERENCES runs (id) ON DELETE SET NULL
);

CREATE INDEX deliveries_run ON deliveries (run);
CREATE INDEX deliveries_at ON deliveries (at);
