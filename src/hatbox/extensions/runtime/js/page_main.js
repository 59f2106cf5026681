// The entry of the script that runs first in a document of an extension (pages/script_bundle.py).

import {parsed, start as startDocument} from "./document_main.js";
import {createWebSockets} from "./websocket.js";

// As start() of document_main.js, with the text of the settings.
export const start = (post, text, members) => startDocument(post, parsed(text), members, createWebSockets);
