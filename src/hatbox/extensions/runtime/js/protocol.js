// The wire protocol: names of messages. protocol.py has the same names, and describes direction and fields.

export const CALL = "c";
export const RESPONSE = "a";
export const LISTENER = "l";
export const LOG = "log";
export const UNCAUGHT = "x";
export const READ_SOURCE = "s";
export const FETCH = "f";
export const CANCEL = "k";
export const LOCAL_STORAGE = "ls";
export const INDEXED_DB = "db";
export const PONG = "pong";
export const READY = "ready";

export const SOCKET = "w";

export const BOOT = "boot";
export const RESULT = "r";
export const BODY_CHUNK = "b";
export const EVENT = "e";
export const NAMESPACES = "show";
export const RUN_SCRIPT = "script";
export const RUN_WORKER = "worker";
export const RUN_MODULE = "module";
export const LOADED = "loaded";
export const EVALUATE = "evaluate";
export const FLUSH = "flush";
export const PING = "ping";
export const NO_OP = "nothing";
