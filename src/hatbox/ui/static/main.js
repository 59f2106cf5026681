// Shows the identities. A placeholder.

import {browser} from "./api.js";

const identities = await browser.contextualIdentities.query({});
for (const {name} of identities) document.body.append(Object.assign(document.createElement("p"), {textContent: name}));
