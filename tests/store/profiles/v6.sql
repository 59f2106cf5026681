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
INSERT INTO "cookie_time" VALUES(1,1.79480443771810507774e+09,NULL,NULL,2658033497);
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
INSERT INTO "cookies" VALUES(6,'site.example',1,'/','kept','','1',1,0,'unspecified',NULL,1794804437823123,1.79480443782312345505e+09,1.79480443782312345505e+09,2170848723);
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
INSERT INTO "head" VALUES(1,11,2,6,24,10082,0,10485760,70585100);
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
INSERT INTO "profile" VALUES(1,'1fa8508d-8a5f-4735-b860-c4446b39d9c4',NULL,650223811);
CREATE TABLE site_data (
            store INTEGER NOT NULL,
            origin TEXT NOT NULL,
            data BLOB NOT NULL,
            checksum INTEGER NOT NULL,
            PRIMARY KEY (store, origin)
        );
INSERT INTO "site_data" VALUES(6,'https://site.example',X'77686174206974206B65657073',1165347309);
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
INSERT INTO "tabs" VALUES(1,1,1,6,'https://site.example/home','https://site.example/next','Hüte 🎩','https://site.example/icon',1,0,0,0,'',1,NULL,NULL,2,4,1.79480443784397530556e+09,2,1,1,200,'text/html','',2569810295);
INSERT INTO "tabs" VALUES(2,1,2,0,'about:blank','https://other.example/','','',0,0,0,0,'',1,1,1,NULL,NULL,1.79480443785288906097e+09,1,0,0,NULL,'','',2218010812);
INSERT INTO "tabs" VALUES(3,1,0,0,'about:blank','','','',0,1,0,1,'make',1,NULL,NULL,NULL,NULL,1.79480443785887670517e+09,0,0,0,NULL,'','',3614573932);
INSERT INTO "tabs" VALUES(4,1,3,0,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79480443786351466179e+09,0,0,0,NULL,'','',2762292665);
INSERT INTO "tabs" VALUES(5,1,4,1,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79480443787094140053e+09,0,0,0,NULL,'','',3917478292);
INSERT INTO "tabs" VALUES(6,2,0,0,'about:blank','','','',1,0,0,0,'',1,NULL,NULL,NULL,NULL,1.79480443788268947601e+09,0,0,0,NULL,'','',1225351218);
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
CREATE INDEX tabs_by_window ON tabs (window, position);
CREATE INDEX tabs_by_store ON tabs (store);
COMMIT;
