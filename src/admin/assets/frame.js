// @ts-check
/// <reference lib="dom" />

import { startActions } from "./actions.js";
import { byId } from "./dom.js";
import { start } from "./live.js";
import { localize } from "./local_time.js";

/** What every page does: it follows the theme, asks before it acts, and stays current if it is live. */

const select = byId("theme");
if (select instanceof HTMLSelectElement) {
  const root = document.documentElement;
  select.value = root.dataset.theme ?? "system";
  select.addEventListener("change", () => {
    const { value } = select;
    if (value === "system") delete root.dataset.theme;
    else root.dataset.theme = value;
    try {
      if (value === "system") localStorage.removeItem("sluice-theme");
      else localStorage.setItem("sluice-theme", value);
    } catch {
      // storage is switched off: the choice holds for this page
    }
    document.dispatchEvent(new Event("themechange"));
  });
}

localize(document);
startActions();
if (document.body.dataset.live !== undefined) start();
