"""Records how a real Firefox reads the manifests of the tests: `python -m tests.extensions.record`."""

from __future__ import annotations

import json
import tempfile
from functools import cache
from pathlib import Path
from typing import Any

from tests.extensions.manifests import CASES, LANGUAGES, PATTERNS, Case
from tests.firefox import Firefox, firefox_version

RECORDING = Path(__file__).with_name("manifests.firefox.json")

READ_ALL = """
const {ExtensionData} = ChromeUtils.importESModule("resource://gre/modules/Extension.sys.mjs");
const results = [];
for (const folder of arguments[0]) {
  const rootURI = Services.io.newFileURI(new FileUtils.File(folder + "/"));
  try {
    const data = await ExtensionData.constructAsync({rootURI, checkPrivileged: () => false});
    const manifest = await data.loadManifest();
    if (!data.errors.length) await data.initAllLocales();
    const {errors, warnings, type} = data;
    if (errors.length) results.push({errors});
    else if (type != "extension") results.push({errors: [type]});
    else {
      const {permissions, origins} = data.activePermissions;
      const optional = data.manifestOptionalPermissions;
      results.push({warnings, keys: manifest, permissions, origins, optional});
    }
  } catch (error) {
    results.push({errors: [String(error)]});
  }
}
return results;
"""

SUBSUMES = """
const patterns = arguments[0].map(pattern => new MatchPattern(pattern));
return patterns.map(wide => patterns.map(narrow => wide.subsumes(narrow)));
"""

NEGOTIATE = """
return arguments[0].map(([wanted, available]) => Services.locale.negotiateLanguages(wanted, available, "en")[0]);
"""


def main() -> None:
    with tempfile.TemporaryDirectory() as folder, Firefox() as firefox:
        folders = [write(Path(folder) / str(number), case) for number, case in enumerate(CASES)]
        answers = firefox._chrome(READ_ALL, [str(each) for each in folders])
        recording = {
            "firefox": firefox_version(firefox.binary),
            "subsumes": firefox._chrome(SUBSUMES, PATTERNS),
            "languages": firefox._chrome(NEGOTIATE, LANGUAGES),
        }
    manifests = {case.name: _short(answer) for case, answer in zip(CASES, answers, strict=True)}
    text = _lines({**recording, "manifests": manifests})
    RECORDING.write_text(text.replace(folder, "FOLDER"), "ascii")


@cache
def recorded() -> dict[str, Any]:
    """What has been recorded."""
    recording: dict[str, Any] = json.loads(RECORDING.read_text("ascii"))
    return recording


def write(folder: Path, case: Case) -> Path:
    """Make the extension of a case in a new folder."""
    for name, text in {"manifest.json": case.text, **case.files}.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, "utf-8")
    return folder


def _short(answer: dict[str, Any]) -> dict[str, Any]:
    """Without the long lists of all that would have been possible."""
    return {
        key: [text[:160] for text in value] if key in ("errors", "warnings") else value for key, value in answer.items()
    }


def _lines(recording: dict[str, Any]) -> str:
    """JSON with one manifest on each line, so that a change of one answer is a change of one line."""
    manifests = ",\n".join(
        f"  {json.dumps(name)}: {json.dumps(answer)}" for name, answer in recording.pop("manifests").items()
    )
    others = "".join(f" {json.dumps(name)}: {json.dumps(value)},\n" for name, value in recording.items())
    return f'{{\n{others} "manifests": {{\n{manifests}\n }}\n}}\n'


if __name__ == "__main__":
    main()
