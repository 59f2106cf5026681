-- Format 3. Discarded, highlighted and grouped tabs; history, bookmarks and recently closed tabs.

ALTER TABLE tabs
    ADD COLUMN discarded int8 NOT NULL DEFAULT {tabs.discarded},
    ADD COLUMN highlighted int8 NOT NULL DEFAULT {tabs.highlighted},
    ADD COLUMN tab_group int8 NOT NULL DEFAULT {tabs.tab_group};
ALTER TABLE tabs
    ALTER COLUMN discarded DROP DEFAULT,
    ALTER COLUMN highlighted DROP DEFAULT,
    ALTER COLUMN tab_group DROP DEFAULT;

CREATE TABLE history (
    id int8 NOT NULL,
    store int8 NOT NULL,
    url bytea NOT NULL,
    title bytea NOT NULL,
    visits int8 NOT NULL,
    typed int8 NOT NULL,
    last_visit float8 NOT NULL
);
CREATE TABLE visits (
    id int8 NOT NULL,
    store int8 NOT NULL,
    page int8 NOT NULL,
    visited float8 NOT NULL,
    transition bytea NOT NULL,
    referrer int8 NOT NULL
);
CREATE TABLE bookmarks (
    id bytea NOT NULL,
    parent bytea NOT NULL,
    position int8 NOT NULL,
    kind bytea NOT NULL,
    url bytea NOT NULL,
    title bytea NOT NULL,
    added float8 NOT NULL,
    modified float8 NOT NULL
);
CREATE TABLE closed_tabs (
    id int8 NOT NULL,
    session int8 NOT NULL,
    store int8 NOT NULL,
    closed float8 NOT NULL,
    data bytea NOT NULL
);
CREATE UNIQUE INDEX history_key ON history (store, id);
CREATE UNIQUE INDEX visits_key ON visits (store, id);
CREATE UNIQUE INDEX bookmarks_key ON bookmarks (id);
CREATE UNIQUE INDEX closed_tabs_key ON closed_tabs (id);
CREATE INDEX history_by_url ON history USING hash (url);
CREATE INDEX history_by_visit ON history (last_visit, id);
CREATE INDEX visits_by_page ON visits (page, visited);
CREATE INDEX visits_by_time ON visits (visited, id);
CREATE INDEX visits_by_id ON visits (id);
CREATE INDEX bookmarks_by_parent ON bookmarks (parent, position);
CREATE INDEX bookmarks_by_url ON bookmarks USING hash (url);
CREATE INDEX bookmarks_by_time ON bookmarks (added);
CREATE INDEX closed_tabs_by_session ON closed_tabs (session);
CREATE INDEX closed_tabs_by_store ON closed_tabs (store);
ALTER TABLE closed_tabs ALTER COLUMN data SET STORAGE EXTERNAL;
