-- What budgets still count of runs that were forgotten: no word of them, and gone with the month. Without it whoever forgets would
-- have asked nothing.
CREATE TABLE forgotten (
    installation BIGINT NOT NULL,
    repo         TEXT   NOT NULL,
    number       BIGINT NOT NULL,
    principal    BIGINT NOT NULL,
    created_at   BIGINT NOT NULL,
    cost         BIGINT NOT NULL
);
CREATE INDEX forgotten_repo ON forgotten (repo, created_at);
CREATE INDEX forgotten_principal ON forgotten (principal, created_at);
CREATE INDEX forgotten_installation ON forgotten (installation, created_at);
