-- Format 1. Text is bytea, because PostgreSQL's text cannot contain NUL. Keys with long texts are hashed: an index
-- entry is limited to 2,700 bytes. Values are not compressed, so that pg_total_relation_size bounds their size.

CREATE TABLE head (
    id int8 NOT NULL,
    identities int8 NOT NULL,
    windows int8 NOT NULL,
    tabs int8 NOT NULL,
    changes int8 NOT NULL,
    logged int8 NOT NULL,
    extension_data int8 NOT NULL,
    identity_position int8 NOT NULL,
    format int8 NOT NULL CHECK (id = 1)
);
CREATE TABLE profile (
    uuid bytea NOT NULL,
    key_check bytea,
    id int8 NOT NULL
);
CREATE TABLE identities (
    id int8 NOT NULL,
    name bytea NOT NULL,
    icon bytea NOT NULL,
    color bytea NOT NULL,
    hidden int8 NOT NULL,
    position int8 NOT NULL
);
CREATE TABLE cookies (
    domain bytea NOT NULL,
    host_only int8 NOT NULL,
    path bytea NOT NULL,
    name bytea NOT NULL,
    partition bytea NOT NULL,
    value bytea NOT NULL,
    secure int8 NOT NULL,
    http_only int8 NOT NULL,
    same_site bytea NOT NULL,
    expires float8,
    sequence int8 NOT NULL,
    created float8 NOT NULL,
    last_access float8 NOT NULL,
    store int8 NOT NULL
);
CREATE TABLE cookie_time (
    reached float8 NOT NULL,
    before float8,
    landed float8,
    id int8 NOT NULL
);
CREATE TABLE windows (
    id int8 NOT NULL,
    focused int8 NOT NULL,
    state bytea NOT NULL,
    kind bytea NOT NULL,
    title_preface bytea NOT NULL,
    "left" int8,
    top int8,
    width int8,
    height int8
);
CREATE TABLE tabs (
    id int8 NOT NULL,
    "window" int8 NOT NULL,
    position int8 NOT NULL,
    store int8 NOT NULL,
    url bytea NOT NULL,
    target bytea NOT NULL,
    title bytea NOT NULL,
    icon bytea NOT NULL,
    active int8 NOT NULL,
    pinned int8 NOT NULL,
    hidden int8 NOT NULL,
    muted int8 NOT NULL,
    muted_by bytea NOT NULL,
    discardable int8 NOT NULL,
    opener int8,
    owner int8,
    related int8,
    successor int8,
    last_accessed float8 NOT NULL,
    navigation int8 NOT NULL,
    begun int8 NOT NULL,
    loaded int8 NOT NULL,
    status int8,
    content_type bytea NOT NULL,
    error bytea NOT NULL
);
CREATE TABLE tab_counts (
    "window" int8 NOT NULL,
    block int8 NOT NULL,
    tabs int8 NOT NULL,
    pinned int8 NOT NULL
);
CREATE TABLE tab_pages (
    tab int8 NOT NULL,
    page bytea NOT NULL
);
CREATE TABLE site_data (
    origin bytea NOT NULL,
    data bytea NOT NULL,
    store int8 NOT NULL
);
CREATE TABLE extension_data (
    extension bytea NOT NULL,
    key bytea NOT NULL,
    value bytea NOT NULL,
    kind bytea NOT NULL,
    sequence int8 NOT NULL
);
CREATE TABLE packages (
    digest bytea NOT NULL,
    data bytea NOT NULL
);
CREATE TABLE changes (
    sequence int8 NOT NULL,
    at int8 NOT NULL,
    logged int8 NOT NULL,
    changes bytea NOT NULL,
    program bytea NOT NULL,
    process int8 NOT NULL,
    machine bytea NOT NULL,
    token bytea NOT NULL
);
CREATE UNIQUE INDEX head_key ON head (id);
CREATE UNIQUE INDEX profile_key ON profile (id);
CREATE UNIQUE INDEX identities_key ON identities (id);
CREATE UNIQUE INDEX cookies_key ON cookies (store, domain, host_only, sha256(path), sha256(name), sha256(partition));
CREATE UNIQUE INDEX cookie_time_key ON cookie_time (id);
CREATE UNIQUE INDEX windows_key ON windows (id);
CREATE UNIQUE INDEX tabs_key ON tabs (id);
CREATE UNIQUE INDEX tab_counts_key ON tab_counts ("window", block);
CREATE UNIQUE INDEX tab_pages_key ON tab_pages (tab);
CREATE UNIQUE INDEX site_data_key ON site_data (store, sha256(origin));
CREATE UNIQUE INDEX extension_data_key ON extension_data (sequence);
CREATE UNIQUE INDEX packages_key ON packages (digest);
CREATE UNIQUE INDEX changes_key ON changes (sequence);
ALTER TABLE profile ALTER COLUMN key_check SET STORAGE EXTERNAL;
ALTER TABLE tab_pages ALTER COLUMN page SET STORAGE EXTERNAL;
ALTER TABLE site_data ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE extension_data ALTER COLUMN value SET STORAGE EXTERNAL;
ALTER TABLE packages ALTER COLUMN data SET STORAGE EXTERNAL;
ALTER TABLE changes ALTER COLUMN changes SET STORAGE EXTERNAL;
CREATE TABLE leases (
    name bytea PRIMARY KEY,
    purpose bytea NOT NULL,
    host bytea NOT NULL,
    process int8 NOT NULL,
    started_at bytea NOT NULL,
    signed_at timestamptz NOT NULL DEFAULT clock_timestamp()
);
CREATE INDEX identities_by_position ON identities (position);
CREATE INDEX identities_by_name ON identities USING hash (name);
CREATE INDEX tabs_by_window ON tabs ("window", position);
CREATE INDEX tabs_by_store ON tabs (store, "window", position);
CREATE INDEX tabs_by_visibility ON tabs ("window", hidden, position);
CREATE INDEX tabs_by_access ON tabs ("window", hidden, last_accessed DESC, position);
CREATE INDEX tabs_active ON tabs ("window") WHERE active = 1;
CREATE INDEX tabs_related ON tabs ("window") WHERE related IS NOT NULL;
CREATE INDEX tabs_by_opener ON tabs (opener) WHERE opener IS NOT NULL;
CREATE INDEX tabs_by_successor ON tabs (successor) WHERE successor IS NOT NULL;
CREATE INDEX windows_by_focus ON windows (focused DESC, id);
CREATE INDEX extension_data_by_kind ON extension_data (kind, extension, sequence);
CREATE INDEX extension_data_by_key ON extension_data USING hash (key);
CREATE UNIQUE INDEX changes_by_token ON changes (token);
