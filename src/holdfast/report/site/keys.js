// Keys: what can be pressed, and what it does.
"use strict";

const KEYS = [
  ["/", "search all rules"],
  ["j  k", "next and previous in a list"],
  ["Enter", "open what is focused"],
  ["g o", "overview"],
  ["g r", "rules"],
  ["g b", "batches"],
  ["g c", "columns"],
  ["g t", "tables"],
  ["?", "these keys"],
  ["Escape", "close, or leave the search box"],
];

let started = ""; // the first key of two

function pressed(event) {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  const { target, key } = event;
  if (key === "Escape") tell();
  if (key === "Escape" && target.id === "query") return void target.blur();
  if (target.matches("input, select, textarea") || byId("keys").open) return;
  const action = started === "g" ? goTo(key) : { "/": search, j: () => move(1), k: () => move(-1), "?": showKeys }[key];
  started = key === "g" && started !== "g" ? "g" : "";
  if (!action) return;
  event.preventDefault();
  action();
}

function goTo(key) {
  const view = VIEWS.find(([address, , letter]) => letter === key && (page.doc.state || address !== "#/batches"));
  if (!view) return null;
  page.followed = true;
  return () => {
    location.hash = view[0];
  };
}

function search() {
  byId("query").focus();
  byId("query").select();
}

/** The next link in the lists of the view, or the one before. */
function move(by) {
  const links = [...document.querySelectorAll("main a.item, main .item a.open")];
  const next = links[links.indexOf(document.activeElement) + by] ?? (by > 0 ? null : links[0]);
  next?.focus();
  next?.scrollIntoView({ block: "nearest" });
}

function showKeys() {
  const dialog = byId("keys");
  const lines = KEYS.map(([keys, words]) => [
    el(
      "dt",
      {},
      keys
        .split(" ")
        .filter(Boolean)
        .map((key, at) => [at ? " " : "", el("kbd", {}, key)]),
    ),
    el("dd", {}, words),
  ]);
  dialog.replaceChildren(
    el("h2", { id: "keys-title" }, "Keys"),
    el("dl", {}, lines),
    el("form", { method: "dialog" }, el("button", {}, "Close")),
  );
  dialog.showModal();
}
