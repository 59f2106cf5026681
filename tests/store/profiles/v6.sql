PRAGMA auto_vacuum = 2;
PRAGMA application_id = 1212240962;
PRAGMA user_version = 6;
BEGIN TRANSACTION;
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
CREATE TABLE cookie_time (
            id INTEGER PRIMARY KEY,
            reached REAL NOT NULL,
            before REAL,
            landed REAL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "cookie_time" VALUES(1,1.79480871870985889435e+09,NULL,NULL,3392535099);
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
INSERT INTO "cookies" VALUES(6,'site.example',1,'/','kept','','1',1,0,'unspecified',NULL,1794808718875677,1.79480871887567710876e+09,1.79480871887567710876e+09,2509781042);
CREATE TABLE extension_data (
            sequence INTEGER PRIMARY KEY,
            extension TEXT NOT NULL,
            kind TEXT NOT NULL,
            key TEXT NOT NULL,
            value BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            UNIQUE (kind, extension, key)
        );
CREATE TABLE head (
            id INTEGER PRIMARY KEY,
            identities INTEGER NOT NULL,
            windows INTEGER NOT NULL,
            tabs INTEGER NOT NULL,
            changes INTEGER NOT NULL,
            logged INTEGER NOT NULL,
            extension_data INTEGER NOT NULL,
            identity_position INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "head" VALUES(1,11,2,6,24,10072,0,10485760,136769808);
CREATE TABLE identities (
            id INTEGER PRIMARY KEY,
            name TEXT NOT NULL,
            icon TEXT NOT NULL,
            color TEXT NOT NULL,
            hidden INTEGER NOT NULL,
            position INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "identities" VALUES(1,'Renamed','fingerprint','blue',1,1048576,1879060048);
INSERT INTO "identities" VALUES(2,'Work','briefcase','orange',1,2097152,279983600);
INSERT INTO "identities" VALUES(4,'Shopping','cart','pink',0,-1048576,2610007717);
INSERT INTO "identities" VALUES(6,'Hüte 🎩','tree','purple',0,5242880,1766035753);
INSERT INTO "identities" VALUES(7,'Work','tree','purple',1,6291456,2579509701);
INSERT INTO "identities" VALUES(8,'''quoted''','tree','purple',0,0,319016542);
INSERT INTO "identities" VALUES(9,' blanks ','tree','purple',0,8388608,1510960274);
INSERT INTO "identities" VALUES(10,'of the future','top-hat','mauve',0,9437184,3150921237);
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
INSERT INTO "profile" VALUES(1,'0b16a14d-5e8a-42ba-b796-d943a1ba9101',NULL,4052574001);
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
            checksum INTEGER NOT NULL
        );
INSERT INTO "tabs" VALUES(1,1,0,6,'https://site.example/home','https://site.example/next','Hüte 🎩','https://site.example/icon',1,0,0,0,'',1,NULL,NULL,2,4,1.79480871892384505272e+09,2,1,1,200,'text/html','',2775106039);
INSERT INTO "tabs" VALUES(2,1,4294967296,0,'about:blank','https://other.example/','','',0,0,0,0,'',1,1,1,NULL,NULL,1.79480871893926405907e+09,1,0,0,NULL,'','',2190196027);
INSERT INTO "tabs" VALUES(3,1,-4294967296,0,'about:blank','','','',0,1,0,1,'make',1,NULL,NULL,NULL,NULL,1.79480871894295525551e+09,0,0,0,NULL,'','',2928160980);
INSERT INTO "tabs" VALUES(4,1,8589934592,0,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79480871894688653946e+09,0,0,0,NULL,'','',1546029660);
INSERT INTO "tabs" VALUES(5,1,12884901888,1,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79480871895471143723e+09,0,0,0,NULL,'','',3126357435);
INSERT INTO "tabs" VALUES(6,2,0,0,'about:blank','','','',1,0,0,0,'',1,NULL,NULL,NULL,NULL,1.79480871897265768051e+09,0,0,0,NULL,'','',1489091654);
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
COMMIT;
