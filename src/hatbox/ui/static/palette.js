// The colors and icons of identities: those of identity/palette.py, in its order. The page must not wait for them, so
// they are here again; a test compares them, and the codes in css/tokens.css.

export const COLORS = ["gray", "yellow", "orange", "red", "pink", "purple", "violet", "blue", "cyan", "green"];
export const ICONS = [
  "fingerprint",
  "briefcase",
  "dollar",
  "cart",
  "vacation",
  "gift",
  "food",
  "fruit",
  "pet",
  "tree",
  "chill",
  "circle",
  "fence",
];
