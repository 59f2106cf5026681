// Files that are dropped on the page. Where nothing takes them they do nothing: else the browser would open the file in
// place of the page, and what was typed would be lost.

function hasFiles(event) {
  return [...(event.dataTransfer?.types ?? [])].includes("Files");
}

// Files beside every target are ignored.
export function ignoreStrayFiles() {
  for (const type of ["dragover", "drop"]) {
    addEventListener(type, (event) => {
      if (!hasFiles(event) || event.defaultPrevented) return;
      event.preventDefault();
      event.dataTransfer.dropEffect = "none";
    });
  }
}

// Files that are dropped on an element. mark: the element that gets the class `cls` meanwhile. take(files).
// Returns a function that ends it.
export function acceptFiles(element, {mark = element, cls = "over", take}) {
  const ending = new AbortController();
  const listen = (type, fn) => element.addEventListener(type, fn, {signal: ending.signal});
  listen("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    mark.classList.add(cls);
  });
  listen("dragleave", (event) => {
    if (!element.contains(event.relatedTarget)) mark.classList.remove(cls);
  });
  listen("drop", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    mark.classList.remove(cls);
    take([...event.dataTransfer.files]);
  });
  return () => ending.abort();
}

// The text of a file. wanted: which files can be chosen, for the error of one that is not text.
export async function readText(file, wanted) {
  let data = null;
  try {
    data = await file.arrayBuffer();
  } catch {
    throw new Error(`${file.name} cannot be read. Choose a file, not a folder.`);
  }
  try {
    return new TextDecoder("utf-8", {fatal: true}).decode(data);
  } catch {
    throw new Error(`${file.name} is not a text file. Choose ${wanted}.`);
  }
}
