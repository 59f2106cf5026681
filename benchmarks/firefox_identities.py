"""The same calls in a real Firefox, one awaited after the other, as benchmarks/identities.py makes them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeAlias

from tests.firefox import Firefox, find_firefox

__all__ = ["FirefoxFigures", "measure_firefox"]

FirefoxFigures: TypeAlias = tuple[dict[str, float], dict[str, float]]
"""Microseconds for one call: as Firefox ships, and with its recommendation job off."""

# The recommendation job walks over all identities at every creation, also to undo its work once it is switched off as a
# whole, which is how Marionette sets it. So these are put back to what a user's Firefox has.
SHIPPED = {
    "browser.discovery.enabled": True,
    "datareporting.healthreport.uploadEnabled": True,
    "datareporting.policy.dataSubmissionEnabled": True,
}
JOB = "browser.discovery.containers.enabled"

MEASURE = """
const api = browser.contextualIdentities;
const all = await api.query({});
for (let missing = Math.max(@SIZE@ - all.length, 1); missing > 0; missing -= 1000) {
  const names = Array.from({length: Math.min(missing, 1000)}, (_, i) => "Client " + missing + "-" + i);
  await Promise.all(names.map(name => api.create({name, color: "blue", icon: "briefcase"})));
}
// Not the defaults, which Firefox refuses to recolor until they have been renamed.
const ids = (await api.query({})).map(identity => identity.cookieStoreId).filter(id => !/-[1-4]$/.test(id));
const pick = () => ids[Math.floor(Math.random() * ids.length)];
const made = [];
const calls = {
  "get": () => api.get(pick()),
  "query by name": () => api.query({name: "Client 1000-7"}),
  "update": () => api.update(pick(), {color: ["red", "green", "blue"][Math.floor(Math.random() * 3)]}),
  "create": async () => {
    made.push((await api.create({name: "Some client", color: "blue", icon: "briefcase"})).cookieStoreId);
  },
  "remove": () => api.remove(made.pop()),
};
const counts = @COUNTS@;
const figures = {};
for (const [name, call] of Object.entries(calls)) {
  const begun = performance.now();
  for (let i = 0; i < counts[name]; i++) await call();
  figures[name] = (performance.now() - begun) / counts[name] * 1000;
}
return figures;
"""


def measure_firefox(sizes: Sequence[int]) -> dict[int, FirefoxFigures]:
    """The figures of the Firefox that is installed, for profiles of these sizes; nothing where there is none."""
    if find_firefox() is None:
        return {}
    return {size: _measure(size) for size in sizes}


def _measure(size: int) -> FirefoxFigures:
    with Firefox(prefs={**SHIPPED, JOB: False}) as firefox:
        job_off = _run(firefox, size)
        firefox.set_pref(JOB, True)
        return _run(firefox, size), job_off


def _run(firefox: Firefox, size: int) -> dict[str, float]:
    many = size > 1000
    counts = {"get": 500, "query by name": 5 if many else 500, "update": 300, "create": 150, "remove": 150}
    body = MEASURE.replace("@SIZE@", str(size)).replace("@COUNTS@", str(counts))
    figures: dict[str, Any] = firefox.run(body, permissions=["contextualIdentities"], timeout=300)
    return {name: float(figure) for name, figure in figures.items()}
