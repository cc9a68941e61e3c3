-- What readers think of an answer, as it was when they were last counted, and when that is to be done again. The log has each change.
ALTER TABLE runs ADD COLUMN votes_up BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN votes_down BIGINT NOT NULL DEFAULT 0;
ALTER TABLE runs ADD COLUMN votes_due BIGINT NOT NULL DEFAULT 0;
