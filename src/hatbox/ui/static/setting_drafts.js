// What was typed in the settings of identities and not saved: cookieStoreId → {name of the setting: text}. It stays
// while another screen is shown, and after the identity was removed, because that may be undone.

export const settingDrafts = new Map();
