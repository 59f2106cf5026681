-- Format 2. UUIDs of identities; settings, site rules and the trash.

ALTER TABLE head ADD COLUMN rules int8 NOT NULL DEFAULT {head.rules};
ALTER TABLE head ALTER COLUMN rules DROP DEFAULT;
ALTER TABLE identities ADD COLUMN uuid bytea;
UPDATE identities SET uuid = convert_to(gen_random_uuid()::text, 'UTF8');
ALTER TABLE identities ALTER COLUMN uuid SET NOT NULL;
CREATE TABLE settings (
    identity int8 NOT NULL,
    name bytea NOT NULL,
    value bytea NOT NULL
);
CREATE TABLE rules (
    id int8 NOT NULL,
    rule bytea NOT NULL
);
CREATE TABLE trash (
    id int8 NOT NULL,
    uuid bytea NOT NULL,
    name bytea NOT NULL,
    icon bytea NOT NULL,
    color bytea NOT NULL,
    removed float8 NOT NULL,
    cookies int8 NOT NULL,
    tabs int8 NOT NULL,
    size int8 NOT NULL,
    data bytea NOT NULL
);
CREATE UNIQUE INDEX settings_key ON settings (identity, name);
CREATE UNIQUE INDEX rules_key ON rules (id);
CREATE UNIQUE INDEX trash_key ON trash (id);
ALTER TABLE settings ALTER COLUMN value SET STORAGE EXTERNAL;
ALTER TABLE rules ALTER COLUMN rule SET STORAGE EXTERNAL;
ALTER TABLE trash ALTER COLUMN data SET STORAGE EXTERNAL;
