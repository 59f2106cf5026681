PRAGMA auto_vacuum = 2;
PRAGMA application_id = 1212240962;
PRAGMA user_version = 7;
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
INSERT INTO "cookie_time" VALUES(1,1.79493091960862207413e+09,NULL,NULL,4250798075);
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
INSERT INTO "cookies" VALUES(6,'site.example',1,'/','kept','','1',1,0,'unspecified',NULL,1794930919737584,1.79493091973758387566e+09,1.79493091973758387566e+09,2648871656);
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
            rules INTEGER NOT NULL,
            checksum INTEGER NOT NULL
        );
INSERT INTO "head" VALUES(1,11,2,6,24,10082,0,10485760,0,1977091900);
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
INSERT INTO "identities" VALUES(1,'Renamed','fingerprint','blue',1,1048576,'61b8c4af-884f-43b0-9975-8b97b5810fb5',2539595970);
INSERT INTO "identities" VALUES(2,'Work','briefcase','orange',1,2097152,'f2e32307-b196-4f63-84be-d2113bd0146c',623734133);
INSERT INTO "identities" VALUES(4,'Shopping','cart','pink',0,-1048576,'087f4f70-0e6d-49d4-884e-558c0cb6050c',182058065);
INSERT INTO "identities" VALUES(6,'Hüte 🎩','tree','purple',0,5242880,'e4c0ce28-3395-48c8-8cf9-49aa3d03acb3',2413380578);
INSERT INTO "identities" VALUES(7,'Work','tree','purple',1,6291456,'7ccb8e85-595e-4a8d-a4c5-3b1f34848906',4190992928);
INSERT INTO "identities" VALUES(8,'''quoted''','tree','purple',0,0,'ff3a021a-e34c-49b5-97d5-f237394d0cce',518458595);
INSERT INTO "identities" VALUES(9,' blanks ','tree','purple',0,8388608,'a222a351-b4ba-4f6d-b01e-80b2d82a590b',3133029653);
INSERT INTO "identities" VALUES(10,'of the future','top-hat','mauve',0,9437184,'2618c59f-d399-4ab4-8a75-9fe8520c6a39',2263147843);
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
INSERT INTO "profile" VALUES(1,'89baa4ad-422c-4bb4-977b-3864580b7eee',NULL,1848113213);
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
INSERT INTO "tabs" VALUES(1,1,0,6,'https://site.example/home','https://site.example/next','Hüte 🎩','https://site.example/icon',1,0,0,0,'',1,NULL,NULL,2,4,1.7949309200257627964e+09,2,1,1,200,'text/html','',1186492444);
INSERT INTO "tabs" VALUES(2,1,4294967296,0,'about:blank','https://other.example/','','',0,0,0,0,'',1,1,1,NULL,NULL,1.79493092003443074226e+09,1,0,0,NULL,'','',895077738);
INSERT INTO "tabs" VALUES(3,1,-4294967296,0,'about:blank','','','',0,1,0,1,'make',1,NULL,NULL,NULL,NULL,1.79493092003936362267e+09,0,0,0,NULL,'','',3069619859);
INSERT INTO "tabs" VALUES(4,1,8589934592,0,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79493092004701066017e+09,0,0,0,NULL,'','',829323993);
INSERT INTO "tabs" VALUES(5,1,12884901888,1,'about:blank','','','',0,0,1,0,'',1,NULL,NULL,NULL,NULL,1.79493092005620574951e+09,0,0,0,NULL,'','',1332175689);
INSERT INTO "tabs" VALUES(6,2,0,0,'about:blank','','','',1,0,0,0,'',1,NULL,NULL,NULL,NULL,1.79493092009033703804e+09,0,0,0,NULL,'','',2582744336);
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
