"""The same calls in a real Firefox, one awaited after the other, as benchmarks/identities.py makes them."""

from __future__ import annotations

from typing import Any, TypeAlias

from tests.firefox import Firefox, find_firefox

__all__ = ["FirefoxTimes", "measure_firefox"]

FirefoxTimes: TypeAlias = tuple[dict[str, float], dict[str, float]]
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


def measure_firefox(size: int, calls: int) -> FirefoxTimes | None:
    """The times of the Firefox that is installed, with a profile of this size; None if there is none."""
    if find_firefox() is None:
        return None
    with Firefox(prefs={**SHIPPED, JOB: False}) as firefox:
        job_off = _run(firefox, size, calls)
        firefox.set_pref(JOB, True)
        return _run(firefox, size, calls), job_off


def _run(firefox: Firefox, size: int, calls: int) -> dict[str, float]:
    shares = {"get": 1.0, "query by name": 0.01, "update": 0.6, "create": 0.3, "remove": 0.3}
    counts = {name: max(1, round(calls * share)) for name, share in shares.items()}
    body = MEASURE.replace("@SIZE@", str(size)).replace("@COUNTS@", str(counts))
    times: dict[str, Any] = firefox.run(body, permissions=["contextualIdentities"], timeout=300)
    return {name: float(microseconds) for name, microseconds in times.items()}
