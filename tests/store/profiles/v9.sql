PRAGMA auto_vacuum = 2;
PRAGMA application_id = 1212240962;
PRAGMA user_version = 9;
BEGIN TRANSACTION;
CREATE TABLE activity (
            id INTEGER PRIMARY KEY,
            at REAL NOT NULL,
            grant_id TEXT NOT NULL,
            program TEXT NOT NULL,
            machine TEXT NOT NULL,
            store INTEGER,
            action TEXT NOT NULL,
            host TEXT NOT NULL,
            outcome TEXT NOT NULL,
            times INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "activity" VALUES(4102444800500000,4102444800.5,'grant000','make','machine',6,'fetch','site.example','ok',2,2222189601);
CREATE TABLE bookmarks (
            id TEXT PRIMARY KEY,
            parent TEXT NOT NULL,
            position INTEGER NOT NULL,
            kind TEXT NOT NULL,
            url TEXT NOT NULL,
            title TEXT NOT NULL,
            added REAL NOT NULL,
            modified REAL NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "bookmarks" VALUES('root________','',0,'folder','','',1700000000.0,1700000000.0,297251950);
INSERT INTO "bookmarks" VALUES('menu________','root________',0,'folder','','menu',1700000000.0,1700000000.0,3270589413);
INSERT INTO "bookmarks" VALUES('toolbar_____','root________',1,'folder','','toolbar',1700000000.0,1700000000.0,902995195);
INSERT INTO "bookmarks" VALUES('unfiled_____','root________',3,'folder','','unfiled',1700000000.0,1700000000.0,140768349);
INSERT INTO "bookmarks" VALUES('mobile______','root________',4,'folder','','mobile',1700000000.0,1700000000.0,945404786);
INSERT INTO "bookmarks" VALUES('folder______','unfiled_____',0,'folder','','Folder',1700000001.0,1700000001.0,2003662751);
INSERT INTO "bookmarks" VALUES('bookmark____','folder______',0,'bookmark','https://site.example/','Site',1700000002.0,1.0,763970554);
CREATE TABLE changes (
            sequence INTEGER PRIMARY KEY,
            at INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            changes BLOB NOT NULL,
            program TEXT NOT NULL,
            process INTEGER NOT NULL,
            machine TEXT NOT NULL,
            checksum INTEGER NOT NULL
        );
CREATE TABLE closed_tabs (
            id INTEGER PRIMARY KEY,
            session INTEGER NOT NULL,
            store INTEGER NOT NULL,
            closed REAL NOT NULL,
            checksum INTEGER NOT NULL,
            data BLOB NOT NULL
        );
INSERT INTO "closed_tabs" VALUES(1700000003000000,1700000003000000,6,1700000003.0,2622252809,X'6120746162');
CREATE TABLE cookie_time (
            id INTEGER PRIMARY KEY,
            reached REAL NOT NULL,
            before REAL,
            landed REAL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "cookie_time" VALUES(1,1.79499501703154706955e+09,NULL,NULL,193321208);
CREATE TABLE cookies (
            store INTEGER NOT NULL,
            domain TEXT NOT NULL,
            host_only INTEGER NOT NULL,
            path TEXT NOT NULL,
            name TEXT NOT NULL,
            partition TEXT NOT NULL,
            value TEXT NOT NULL,
            secure INTEGER NOT NULL,
            http_only INTEGER NOT NULL,
            same_site TEXT NOT NULL,
            expires REAL,
            sequence INTEGER NOT NULL,
            created REAL NOT NULL,
            last_access REAL NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, domain, path, name, host_only, partition)
        ) WITHOUT ROWID;
INSERT INTO "cookies" VALUES(6,'site.example',1,'/','kept','','1',1,0,'unspecified',NULL,1794995017156110,1.79499501715611052513e+09,1.79499501715611052513e+09,482809413);
CREATE TABLE extension_data (
            sequence INTEGER PRIMARY KEY,
            extension TEXT NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            UNIQUE (kind, extension, key)
        );
CREATE TABLE grants (
            id TEXT PRIMARY KEY,
            digest BLOB NOT NULL,
            created REAL NOT NULL,
            expires REAL,
            revoked REAL,
            program TEXT NOT NULL,
            machine TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "grants" VALUES('grant000',X'0101010101010101010101010101010101010101010101010101010101010101',1700000004.0,NULL,NULL,'make','machine',X'7B22707572706F7365223A2248C3BC7465222C226964656E746974696573223A5B2266697265666F782D636F6E7461696E65722D36225D2C22686F737473223A6E756C6C2C22616374696F6E73223A5B226665746368225D7D',396786671);
CREATE TABLE head (
            id INTEGER PRIMARY KEY,
            identities INTEGER NOT NULL,
            windows INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            changes INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            extension_data INTEGER NOT NULL,
            identity_position INTEGER NOT NULL,
            rules INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "head" VALUES(1,11,2,6,24,10991,0,10485760,0,1286172768);
CREATE TABLE history (
            store INTEGER NOT NULL,
            id INTEGER NOT NULL,
            url TEXT NOT NULL,
            title TEXT NOT NULL,
            visits INTEGER NOT NULL,
            typed INTEGER NOT NULL,
            last_visit REAL NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, id)
        );
INSERT INTO "history" VALUES(6,1,'https://site.example/','Hüte',1,1,1700000000.5,3845129798);
CREATE TABLE identities (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            hidden INTEGER NOT NULL,
            position INTEGER NOT NULL,
            uuid TEXT NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "identities" VALUES(1,'Renamed','fingerprint','blue',1,1048576,'430d57b3-2d29-4183-8533-0d0dae089a4f',4006854310);
INSERT INTO "identities" VALUES(2,'Work','briefcase','orange',1,2097152,'452e593c-0fe8-44b8-a12c-94f0d811436e',779182137);
INSERT INTO "identities" VALUES(4,'Shopping','cart','pink',0,-1048576,'0b4cbc0f-9173-416b-9bc4-fb951153bfc9',3891883206);
INSERT INTO "identities" VALUES(6,'Hüte 🎩','tree','purple',0,5242880,'a1f08a41-2997-4224-880a-1fa28dda1a83',263671516);
INSERT INTO "identities" VALUES(7,'Work','tree','purple',1,6291456,'94c4b4ee-31d8-4a70-89e1-ea97db4cb853',259780942);
INSERT INTO "identities" VALUES(8,'''quoted''','tree','purple',0,0,'66ac04b6-8134-43a6-ad03-c6be4e3cbb25',3450499189);
INSERT INTO "identities" VALUES(9,' blanks ','tree','purple',0,8388608,'3ef71c3f-7d34-43f5-9eb3-e065d9b4858d',12978086);
INSERT INTO "identities" VALUES(10,'of the future','top-hat','mauve',0,9437184,'f931f4fe-1d7e-4c5d-9015-fb4aa954214b',4207752801);
CREATE TABLE packages (
            digest TEXT PRIMARY KEY,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL
        );
CREATE TABLE profile (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL,
            key_check BLOB,
            checksum INTEGER NOT NULL
        );
INSERT INTO "profile" VALUES(1,'ac766788-e98c-4952-8e60-c1fe051c6e92',NULL,2393975009);
CREATE TABLE rules (
            id INTEGER PRIMARY KEY,
            rule BLOB NOT NULL,
            checksum INTEGER NOT NULL
        );
CREATE TABLE settings (
            identity INTEGER NOT NULL,
            name TEXT NOT NULL,
            value BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (identity, name)
        );
INSERT INTO "settings" VALUES(0,'trash',X'7B226279746573223A3237392C226F6C64657374223A313739343939353031372E303031333234327D',2977002008);
CREATE TABLE site_data (
            store INTEGER NOT NULL,
            origin TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, origin)
        );
INSERT INTO "site_data" VALUES(6,'https://site.example',X'77686174206974206B65657073',1165347309);
CREATE TABLE tab_counts (
            window INTEGER NOT NULL,
            block INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            pinned INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (window, block)
        );
INSERT INTO "tab_counts" VALUES(1,-1,1,1,633453328);
INSERT INTO "tab_counts" VALUES(1,0,4,0,2435402542);
INSERT INTO "tab_counts" VALUES(2,0,1,0,4276818053);
CREATE TABLE tab_pages (
            tab INTEGER PRIMARY KEY,
            page BLOB NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "tab_pages" VALUES(1,X'776865726520697420776173',2628444383);
CREATE TABLE tabs (
            id INTEGER PRIMARY KEY,
            window INTEGER NOT NULL,
            position INTEGER NOT NULL,
            store INTEGER NOT NULL,
            url TEXT NOT NULL,
            target TEXT NOT NULL,
            title TEXT NOT NULL,
            icon TEXT NOT NULL,
            active INTEGER NOT NULL,
            pinned INTEGER NOT NULL,
            hidden INTEGER NOT NULL,
            muted INTEGER NOT NULL,
            muted_by TEXT NOT NULL,
            discardable INTEGER NOT NULL,
            opener INTEGER,
            owner INTEGER,
            related INTEGER,
            successor INTEGER,
            last_accessed REAL NOT NULL,
            navigation INTEGER NOT NULL,
            begun INTEGER NOT NULL,
            loaded INTEGER NOT NULL,
            status INTEGER,
            content_type TEXT NOT NULL,
            error TEXT NOT NULL,
            discarded INTEGER NOT NULL,
            highlighted INTEGER NOT NULL,
            tab_group INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "tabs" VALUES(1,1,0,6,'https://site.example/home','https://site.example/next','Hüte 🎩','https://site.example/icon',1,0,0,0,'',1,NULL,NULL,2,4,1.79499501736781024933e+09,2,1,1,200,'text/html','',0,0,-1,2428020085);
INSERT INTO "tabs" VALUES(2,1,4294967296,0,'about:blank','https://other.example/','','',0,0,0,0,'',1,1,1,NULL,NULL,1.79499501737319326401e+09,1,0,0,NULL,'','',0,0,-1,1610290383);
INSERT INTO "tabs" VALUES(3,1,-4294967296,0,'about:blank','','','',0,1,0,1,'make',1,NULL,NULL,NULL,NULL,1.79499501737916016579e+09,0,0,0,NULL,'','',0,0,-1,1211806076);
INSERT INTO "tabs" VALUES(4,1,8589934592,0,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.7949950173834028244e+09,0,0,0,NULL,'','',0,0,-1,786868661);
INSERT INTO "tabs" VALUES(5,1,12884901888,1,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79499501739091134071e+09,0,0,0,NULL,'','',0,0,-1,1544893307);
INSERT INTO "tabs" VALUES(6,2,0,0,'about:blank','','','',1,0,0,0,'',1,NULL,NULL,NULL,NULL,1.79499501740165400505e+09,0,0,0,NULL,'','',0,0,-1,2093374465);
CREATE TABLE trash (
            id INTEGER PRIMARY KEY,
            uuid TEXT NOT NULL,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            removed REAL NOT NULL,
            cookies INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            size INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            data BLOB NOT NULL
        );
INSERT INTO "trash" VALUES(3,'dd5efa53-0ae5-4bc4-80e4-749fe6891cec','Banking','dollar','green',1.79499501700132417679e+09,0,0,134,976185970,X'686174626F78206964656E746974790A01DE0006A2696403A475756964D92464643565666135332D306165352D346263342D383065342D373439666536383931636563A46E616D65A742616E6B696E67A469636F6EA6646F6C6C6172A5636F6C6F72A5677265656EA8706F736974696F6ECE00300000E81EC90C59717DB9B5F013031999416D');
INSERT INTO "trash" VALUES(11,'790b39fc-4ca5-4e03-99c8-75e4da84a595','the newest, removed','tree','purple',1.79499501702130103111e+09,0,0,145,1245905130,X'686174626F78206964656E746974790A01DE0006A269640BA475756964D92437393062333966632D346361352D346530332D393963382D373565346461383461353935A46E616D65B3746865206E65776573742C2072656D6F766564A469636F6EA474726565A5636F6C6F72A6707572706C65A8706F736974696F6ECE00A00000A4B57E879A26EC141E927FF06E4A492A');
CREATE TABLE visits (
            store INTEGER NOT NULL,
            id INTEGER NOT NULL,
            page INTEGER NOT NULL,
            visited REAL NOT NULL,
            transition TEXT NOT NULL,
            referrer INTEGER NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, id)
        );
INSERT INTO "visits" VALUES(6,2,1,1700000000.5,'typed',0,2480888317);
CREATE TABLE windows (
            id INTEGER PRIMARY KEY,
            focused INTEGER NOT NULL,
            state TEXT NOT NULL,
            kind TEXT NOT NULL,
            title_preface TEXT NOT NULL,
            "left" INTEGER,
            top INTEGER,
            width INTEGER,
            height INTEGER,
            checksum INTEGER NOT NULL
        );
INSERT INTO "windows" VALUES(1,1,'normal','normal','',NULL,NULL,NULL,NULL,2283366463);
INSERT INTO "windows" VALUES(2,2,'normal','popup','Pre ',10,20,NULL,NULL,3274591294);
CREATE INDEX identities_by_position ON identities (position);
CREATE INDEX identities_by_name ON identities (name, position);
CREATE INDEX windows_by_focus ON windows (focused DESC, id);
CREATE INDEX tabs_by_window ON tabs (window, position);
CREATE INDEX tabs_by_store ON tabs (store, window, position);
CREATE INDEX tabs_by_visibility ON tabs (window, hidden, position);
CREATE INDEX tabs_by_access ON tabs (window, hidden, last_accessed DESC, position);
CREATE INDEX tabs_active ON tabs (window) WHERE active = 1;
CREATE INDEX tabs_related ON tabs (window) WHERE related IS NOT NULL;
CREATE INDEX tabs_by_opener ON tabs (opener) WHERE opener IS NOT NULL;
CREATE INDEX tabs_by_successor ON tabs (successor) WHERE successor IS NOT NULL;
CREATE INDEX history_by_url ON history (url, store);
CREATE INDEX history_by_visit ON history (last_visit, id);
CREATE INDEX visits_by_page ON visits (page, visited);
CREATE INDEX visits_by_time ON visits (visited, id);
CREATE INDEX visits_by_id ON visits (id);
CREATE INDEX bookmarks_by_parent ON bookmarks (parent, position);
CREATE INDEX bookmarks_by_url ON bookmarks (url);
CREATE INDEX bookmarks_by_time ON bookmarks (added);
CREATE INDEX closed_tabs_by_session ON closed_tabs (session);
CREATE INDEX closed_tabs_by_store ON closed_tabs (store);
CREATE INDEX grants_by_digest ON grants (digest);
CREATE INDEX activity_by_time ON activity (at);
CREATE INDEX activity_by_store ON activity (store, id);
CREATE INDEX activity_by_grant ON activity (grant_id, store, id);
COMMIT;
