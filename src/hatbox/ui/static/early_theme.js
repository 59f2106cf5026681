// A classic script, so that the chosen theme is set before the first paint. theme.js changes it later.
{
  const chosen = localStorage.getItem("hatbox.theme");
  if (chosen === "light" || chosen === "dark") document.documentElement.dataset.theme = chosen;
}
