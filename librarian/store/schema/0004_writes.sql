-- What was written to GitHub of late, by installation: what its limits count. Rows of more than an hour ago are of no use.
CREATE TABLE writes (
    installation BIGINT NOT NULL,
    at           BIGINT NOT NULL,
    kind         TEXT   NOT NULL
);

CREATE INDEX writes_installation ON writes (installation, at);
CREATE INDEX writes_at ON writes (at);
