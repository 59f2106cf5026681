// Sends a file to the server in parts.

const PART = 786_432; // bytes, a multiple of 3: each part is base64 without padding

// to: {begin(name, size) → token, add(token, part), cancel(token)}, all async. Returns the token of the complete file.
// onPart({done, total}): bytes.
export async function sendFile(file, {begin, add, cancel}, onPart = () => {}) {
  const token = await begin(file.name, Math.max(1, file.size));
  try {
    for (let start = 0; start < file.size; start += PART) {
      await add(token, await base64(file.slice(start, start + PART)));
      onPart({done: Math.min(file.size, start + PART), total: file.size});
    }
  } catch (error) {
    cancel(token).catch(() => {});
    throw error;
  }
  return token;
}

function base64(blob) {
  return new Promise((resolve, reject) => {
    const reader = new FileReader();
    reader.onload = () => resolve(reader.result.slice(reader.result.indexOf(",") + 1));
    reader.onerror = () => reject(new Error("The file could not be read. Choose it again."));
    reader.readAsDataURL(blob);
  });
}
