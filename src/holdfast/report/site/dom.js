// Making elements. Texts of others reach the page by `textContent` and `setAttribute` alone.
"use strict";

const NUMBERS = new Intl.NumberFormat("en-US");

/** The element with an id. */
const byId = (id) => document.getElementById(id);

/** A number as people read it. */
const number = (value) => (value === null || value === undefined ? "–" : NUMBERS.format(value));

/** `1 rule`, `1,234 rules`. */
const counted = (count, one, many = one + "s") => `${number(count)} ${count === 1 ? one : many}`;

/** A text with a capital at the start. */
const capitalized = (text) => text.charAt(0).toUpperCase() + text.slice(1);

/** A share as percent, never rounded to all or nothing. */
function percent(share) {
  if (share > 0.9995 && share < 1) return "99.9 %";
  if (share > 0 && share < 0.001) return "< 0.1 %";
  return `${(100 * share).toFixed(share === 0 || share === 1 ? 0 : 1)} %`;
}

/** A time as it was written, to the minute, without a guess about the reader's zone. */
function moment(iso) {
  const found = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(iso ?? "");
  return found ? `${found[1]} ${found[2]}` : (iso ?? "");
}

/**
 * An element: `el("a.item", {href: "#/"}, "text", child, …)`. Attributes that are null or false are left out,
 * functions are listeners; children that are null or false are left out, lists are taken apart.
 */
function el(tag, attributes = {}, ...children) {
  const [name, ...classes] = tag.split(".");
  const made = document.createElement(name);
  if (classes.length) made.className = classes.join(" ");
  for (const [key, value] of Object.entries(attributes)) {
    if (value === null || value === undefined || value === false) continue;
    if (typeof value === "function") made.addEventListener(key, value);
    else made.setAttribute(key, value === true ? "" : value);
  }
  made.append(...children.flat(3).filter((child) => child !== null && child !== undefined && child !== false));
  return made;
}

/** A picture of the document, which Python has drawn and escaped; null where there is none. */
function picture(svg, className = "picture") {
  if (!svg) return null;
  const holder = el(`div.${className}`);
  holder.innerHTML = svg;
  // A strip in large: twice as wide as it was drawn, as far as there is room.
  if (className === "strip large")
    holder.firstChild.style.width = `${Math.min(2 * holder.firstChild.getAttribute("width"), 760)}px`;
  return holder;
}

/** A line over batches; in words where it never rose above zero, for which no grid is drawn. */
const overBatches = (svg, none) => (svg && !svg.includes("hf-grid") ? el("p.calm", {}, none) : picture(svg, "line"));

/** A link that reads as a sentence's part. */
const link = (href, ...children) => el("a", { href }, ...children);

/** A part of a view under a heading; null where there is nothing to show. */
function part(title, ...children) {
  const shown = children.flat(3).filter(Boolean);
  return shown.length ? el("section.part", {}, el("h2", {}, title), ...shown) : null;
}

/** A table: headings are texts, those that end in # are over numbers; cells are texts or elements. */
function table(name, headings, rows, tag = "table") {
  const numeric = headings.map((heading) => heading.endsWith("#"));
  const cell = (kind, content, at, more) => el(numeric[at] ? `${kind}.number` : kind, more, content);
  const heads = headings.map((heading, at) => cell("th", heading.replace(/#$/, ""), at, { scope: "col" }));
  const line = (row) =>
    el(
      "tr",
      {},
      row.map((content, at) => cell("td", content, at)),
    );
  return framed(name, tag, heads, rows.map(line));
}

/** A table of finished cells; it scrolls by itself where it is wider than the page. */
function framed(name, tag, heads, lines) {
  const parts = [el("caption.hidden", {}, name), el("thead", {}, el("tr", {}, heads)), el("tbody", {}, lines)];
  return el("div.scroll", { "data-name": name }, el(tag, {}, parts));
}

/** What is wider than its room must be reachable by Tab, so that keys scroll it, and have a name; the rest must not. */
function reachScrolling() {
  for (const box of document.querySelectorAll(".scroll")) {
    const wide = box.scrollWidth > box.clientWidth;
    const marks = { tabindex: "0", role: "region", "aria-label": box.dataset.name };
    for (const [name, value] of Object.entries(marks)) {
      if (wide) box.setAttribute(name, value);
      else box.removeAttribute(name);
    }
  }
}

/** A list that shows its first lines, and more of them when asked. */
function growing(items, draw, step) {
  const list = el("ul.list");
  const button = el("button.more", { type: "button", click: more });
  let shown = 0;
  function more() {
    const next = items.slice(shown, shown + step).map(draw);
    list.append(...next);
    if (shown) next[0]?.querySelector("a")?.focus();
    shown += next.length;
    button.hidden = shown >= items.length;
    button.textContent = `Show more (${number(items.length - shown)} left)`;
  }
  more();
  return [list, button];
}

/** Shows a notice, read aloud by screen readers, without moving anything; without arguments the notice goes. */
function tell(...said) {
  byId("notice").replaceChildren(...said);
}
