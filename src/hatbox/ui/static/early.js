// Runs before the page is parsed: sets the chosen theme before the first paint, and requests what every screen needs
// while the other modules are loaded. Whatever it imports delays the page.

import {identities} from "./identities_state.js";
import {restoreTheme} from "./theme.js";

restoreTheme();
identities.load();
