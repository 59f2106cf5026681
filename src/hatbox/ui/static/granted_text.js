// How many permissions of an extension are granted, in words. Pure.

// "Permissions: 2 required, 1 of 3 optional". The user decides only about the optional ones.
export function grantedText(permissions) {
  const required = permissions.filter((each) => each.required).length;
  const optional = permissions.filter((each) => !each.required);
  const granted = optional.filter((each) => each.granted).length;
  const parts = [
    required && `${required} required`,
    optional.length && `${granted} of ${optional.length} optional`,
  ];
  return `Permissions: ${parts.filter(Boolean).join(", ") || "none"}`;
}
