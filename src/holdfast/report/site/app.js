// The page: which view an address shows, where the focus goes, and themes.
"use strict";

const VIEWS = [
  ["#/", "Overview", "o"],
  ["#/rules", "Rules", "r"],
  ["#/batches", "Batches", "b"],
  ["#/columns", "Columns", "c"],
  ["#/tables", "Tables", "t"],
];

// `opened` is what a view has opened beyond its start: it stays when a live document is shown again.
const page = { doc: null, view: null, places: new Map(), shown: null, followed: false, opened: {} };

/** The view of an address such as `#/rule/fd/tax/Zip%20-%3E%20State`. */
function viewOf(doc, hash) {
  const [path] = splitOnce(hash.replace(/^#\/?/, ""), "?");
  const [name, ...parts] = path.split("/").map(decoded);
  switch (name) {
    case "":
      return overviewView(doc);
    case "rules":
      return rulesView(doc, askedIn(hash));
    case "rule":
      return ruleView(doc, ...parts);
    case "batches":
      return batchesView(doc);
    case "batch":
      return entryView(doc, doc.batchNumbered(Number(parts[0])), `batch ${parts[0]}`);
    case "change":
      return entryView(doc, doc.entry(Number(parts[0])), `change ${parts[0]}`);
    case "between":
      return betweenView(doc, parts[0], parts[1]);
    case "columns":
      return columnsView(doc);
    case "column":
      return columnView(doc, ...parts);
    case "tables":
      return tablesView(doc);
    default:
      return missingView("This address leads nowhere.");
  }
}

/** What an address asks for behind its `?`. */
function askedIn(hash) {
  return new URLSearchParams((splitOnce(hash, "?")[1] ?? "").replaceAll("+", "%2B"));
}

function splitOnce(text, mark) {
  const at = text.indexOf(mark);
  return at < 0 ? [text] : [text.slice(0, at), text.slice(at + 1)];
}

function decoded(text) {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}

/** Draw what the address asks for; `quiet` leaves focus and scrolling to the caller. */
function show(quiet = false) {
  const hash = location.hash || "#/";
  const focused = document.activeElement?.id;
  const filtered = hash.startsWith("#/rules") && page.shown?.startsWith("#/rules");
  if (page.shown !== hash) page.opened = {};
  page.shown = hash;
  page.view = viewOf(page.doc, hash);
  byId("main").replaceChildren(...page.view.body.flat(3).filter(Boolean));
  document.title = `${page.view.title} – ${page.doc.title} – Holdfast`;
  showViews(hash);
  reachScrolling();
  const query = askedIn(hash).get("q") ?? "";
  if (byId("query").value !== query) byId("query").value = query;
  if (quiet) return;
  tell();
  if (filtered && byId(focused)) return byId(focused).focus({ preventScroll: true });
  focusHeading();
  window.scrollTo(0, page.followed ? 0 : (page.places.get(hash) ?? 0));
}

function focusHeading() {
  const heading = byId("main").querySelector("h1");
  heading?.setAttribute("tabindex", "-1");
  heading?.focus({ preventScroll: true });
}

/** The views in the bar, the current one marked. */
function showViews(hash) {
  const path = splitOnce(hash, "?")[0];
  const parent =
    { rule: "#/rules", batch: "#/batches", change: "#/batches", between: "#/batches", column: "#/columns" }[path.split("/")[1]] ?? path;
  const shown = VIEWS.filter(([address]) => page.doc.state || address !== "#/batches");
  byId("views").replaceChildren(
    ...shown.map(([address, name]) =>
      el("a", { href: address, "aria-current": address === parent ? "page" : null }, name),
    ),
  );
}

/** Typing in the box of the bar searches at once; from other views it leads to the rules. */
function typed() {
  const text = byId("query").value;
  if (page.view?.searched) {
    history.replaceState(null, "", page.view.searched(text));
    page.shown = location.hash;
    page.opened = {};
    return;
  }
  history.pushState(null, "", rulesAddress({ q: text }));
  show(true);
  window.scrollTo(0, 0);
}

// ---- themes --------------------------------------------------------------------------------------------------------

const THEMES = ["auto", "light", "dark"];

function setTheme(theme) {
  if (theme === "auto") delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = theme;
  byId("theme").textContent = `Theme: ${theme}`;
  byId("theme").dataset.now = theme;
}

function tryStorage(action) {
  try {
    return action(window.localStorage);
  } catch {
    return null; // a browser may keep nothing for pages from files
  }
}

function nextTheme() {
  const theme = THEMES[(THEMES.indexOf(byId("theme").dataset.now) + 1) % THEMES.length];
  setTheme(theme);
  tryStorage((storage) => storage.setItem("holdfast-theme", theme));
}

// ---- the start -----------------------------------------------------------------------------------------------------

function showAbout() {
  const { doc } = page;
  byId("about").replaceChildren(doc.title, doc.live ? el("span.badge", { id: "live" }, "● live") : "");
  byId("foot").replaceChildren(
    `${doc.live ? "Live" : `Written ${moment(doc.made)}`} by Holdfast ${doc.version}.`,
    doc.redacted ? " All values are hashed." : "",
    doc.nulls === "distinct" ? " A null equals nothing." : " Null equals null.",
  );
}

async function start() {
  setTheme(
    THEMES.includes(tryStorage((storage) => storage.getItem("holdfast-theme")))
      ? tryStorage((storage) => storage.getItem("holdfast-theme"))
      : "auto",
  );
  try {
    page.doc = new Doc(await load());
  } catch (error) {
    byId("main").replaceChildren(el("h1", {}, "This page can't be shown"), el("p", {}, error.message));
    return;
  }
  history.scrollRestoration = "manual";
  showAbout();
  show(true);
  performance.mark("shown");
  page.doc.index.buildLater();
  listen();
  if (page.doc.live) follow();
}

function listen() {
  window.addEventListener("hashchange", () => {
    if (location.hash === "#main") return;
    if (location.hash !== page.shown) show();
    page.followed = false;
  });
  document.addEventListener(
    "click",
    (event) => {
      page.places.set(page.shown, window.scrollY);
      page.followed = Boolean(event.target.closest?.("a[href^='#/']"));
    },
    true,
  );
  byId("skip").addEventListener("click", (event) => {
    event.preventDefault(); // the address stays that of the view
    byId("main").focus();
  });
  byId("query").addEventListener("input", typed);
  byId("finder").addEventListener("submit", (event) => {
    event.preventDefault();
    byId("main").querySelector(".item a.open")?.focus();
  });
  byId("theme").addEventListener("click", nextTheme);
  byId("help").addEventListener("click", showKeys);
  document.addEventListener("keydown", pressed);
  window.addEventListener("resize", reachScrolling);
  document.addEventListener("toggle", reachScrolling, true);
  let folded = [];
  window.addEventListener("beforeprint", () => {
    folded = [...document.querySelectorAll("details:not([open])")];
    for (const each of folded) each.open = true;
  });
  window.addEventListener("afterprint", () => {
    for (const each of folded) each.open = false;
  });
}

start();
