// The entry of the script that runs first in a document of an extension (pages/script_bundle.py).

import {start as startDocument} from "./document_main.js";
import {createWebSockets} from "./websocket.js";

// As start() of document_main.js.
export const start = (post, text, members) => startDocument(post, text, members, createWebSockets);
