// @ts-check
/// <reference lib="dom" />

/**
 * Sets the chosen theme before anything is painted, and says that scripts run, and when all of them
 * listen. A classic script in the head.
 */
{
  const root = document.documentElement;
  root.classList.add("js");
  document.addEventListener("DOMContentLoaded", () => root.classList.add("listening"));
  try {
    const theme = localStorage.getItem("sluice-theme");
    if (theme === "light" || theme === "dark") root.dataset.theme = theme;
  } catch {
    // storage is switched off: the theme follows the system
  }
}
