-- Format 4. Grants and the activity log.

CREATE TABLE grants (
    id bytea NOT NULL,
    digest bytea NOT NULL,
    created float8 NOT NULL,
    expires float8,
    revoked float8,
    program bytea NOT NULL,
    machine bytea NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE activity (
    id int8 NOT NULL,
    at float8 NOT NULL,
    grant_id bytea NOT NULL,
    program bytea NOT NULL,
    machine bytea NOT NULL,
    store int8,
    action bytea NOT NULL,
    host bytea NOT NULL,
    outcome bytea NOT NULL,
    times int8 NOT NULL
);
CREATE UNIQUE INDEX grants_key ON grants (id);
CREATE UNIQUE INDEX activity_key ON activity (id);
CREATE INDEX grants_by_digest ON grants (digest);
CREATE INDEX activity_by_time ON activity (at);
CREATE INDEX activity_by_store ON activity (store, id);
CREATE INDEX activity_by_grant ON activity (grant_id, store, id);
ALTER TABLE grants ALTER COLUMN data SET STORAGE EXTERNAL;
