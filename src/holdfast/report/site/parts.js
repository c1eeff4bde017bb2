// What several views show: a rule on a line, its state, two rows side by side, copying.
"use strict";

const SIGNS = { holds: "✓", nearly: "≈", violated: "✗", broke: "✗", implied: "↳", untested: "○" };
const STATE_WORDS = {
  holds: "holds",
  nearly: "nearly",
  violated: "violated",
  broke: "broken",
  implied: "implied",
  untested: "untested",
};
const STATE_TITLES = {
  nearly: "holds except for some rows",
  violated: "a given rule that rows violate",
  broke: "a rule that held, until rows broke it",
  implied: "still holds, but follows from another rule, or too few rows are left to test it",
  untested: "failed once rows tested it",
};

/** What matters most beside the rest; all side by side where nothing broke. */
function twoColumns(most, rest) {
  const shown = most.filter(Boolean);
  if (!shown.length) return el("div.parts", {}, rest);
  return el("div.columns", {}, el("div", {}, shown), el("div", {}, rest));
}

/** A rule's text, its columns set apart; with `links` they lead to the columns. */
function ruleText(doc, rule, links = false) {
  const names = doc.namesFor(rule);
  const shown = el("span.rule");
  for (const piece of doc.line(rule).split(/([\ue000-\uf8ff])/)) {
    const at = piece.charCodeAt(0) - FIRST_COLUMN;
    if (piece.length === 1 && at >= 0 && at < names.length) {
      shown.append(links ? link(doc.columnAddress(at), names[at]) : el("b", {}, names[at]));
    } else if (piece) shown.append(piece);
  }
  return shown;
}

/** How a rule stands; a single look lists violated rules only if they nearly hold. */
function seenState(doc, rule) {
  const state = doc.stateOf(rule);
  return !doc.state && state === "violated" ? "nearly" : state;
}

/** The state of a rule as a sign and a word; `now` is a word before it. */
function stateMark(doc, rule, now = "") {
  const state = seenState(doc, rule);
  const sign = el("span", { "aria-hidden": "true" }, SIGNS[state]);
  return el(`span.state.${state}`, { title: STATE_TITLES[state] }, sign, ` ${now}${STATE_WORDS[state]}`);
}

/** The score as a number with a bar. */
function scoreMark(score) {
  if (score === null) return el("span.score.none", { title: "no score is known" }, "–");
  const bar = el("span.bar", { "aria-hidden": "true" }, el("span"));
  bar.firstChild.style.width = `${score}%`;
  return el("span.score", { title: `score ${score} of 100` }, el("span.hidden", {}, "score "), String(score), bar);
}

/** The strip of a rule, if it has one of its own. In lists its cells can be clicked, but Tab passes them by. */
function strip(doc, rule, large = false) {
  const svg = doc.state ? doc.strips[doc.detail(rule).strip] : null;
  const drawn = picture(svg, large ? "strip large" : "strip");
  if (!large) for (const cell of drawn?.querySelectorAll("a") ?? []) cell.setAttribute("tabindex", "-1");
  return drawn;
}

/** Whether rules differ in how they stand: what a single look finds mostly holds. */
const hasStates = (doc) => doc.state || doc.overview.classes.some((row) => row.violated || row.broke);

/** Over the columns of a list, for those who see it. */
function labels(doc) {
  const label = (name, text) => el(`span.${name}`, {}, text);
  return el(
    "div.row.labels",
    { "aria-hidden": "true" },
    hasStates(doc) ? label("state", "state") : null,
    label("score", "score"),
    label("what", "rule"),
    doc.state ? label("strip", "batch by batch") : null,
  );
}

/** A rule as a line of a list: a link, with whatever is said of it beneath. */
function ruleItem(
  doc,
  rule,
  { aside = null, note = null, now = "", scored = true, withTable = doc.tables.length > 1 } = {},
) {
  const { table: name } = doc.section(rule);
  return el(
    "li.item",
    {},
    el(
      "div.row",
      {},
      hasStates(doc) ? stateMark(doc, rule, now) : null,
      scored ? scoreMark(doc.scoreOf(rule)) : null,
      el(
        "div.what",
        {},
        ruleLink(doc, rule),
        withTable && name ? el("span.aside", {}, ` ${name}`) : null,
        aside ? el("span.aside", {}, " ", aside) : null,
        note ? el("p.note", {}, note) : null,
      ),
      strip(doc, rule),
    ),
  );
}

/** A rule's name, if it has one, and its text: the link to its page. */
function ruleLink(doc, rule) {
  const { name } = doc.detail(rule);
  return el("a.open", { href: doc.address(rule) }, name ? el("span.name", {}, `${name}: `) : null, ruleText(doc, rule));
}

/** Rules as a list that can grow. */
const ruleList = (doc, rules, more = () => ({}), step = PAGE) =>
  growing(rules, (rule) => ruleItem(doc, rule, more(rule)), step);

/** What a batch did, linked. */
const batchLink = (batch) => link(`#/batch/${batch}`, `batch ${number(batch)}`);

/** The address of a batch, or of a change of rules or columns. */
const entryAddress = (entry) => (entry.changed ? `#/change/${entry.seq}` : `#/batch/${entry.batch}`);

/** What people call a batch, or a change: that has no number. */
function entryName(entry) {
  if (!entry.changed) return `batch ${number(entry.batch)}`;
  return `change ${entry.batch ? `after batch ${number(entry.batch)}` : "before batch 1"}`;
}

/** What a batch or a change did, linked. */
const entryLink = (entry) => link(entryAddress(entry), entryName(entry));

/** Whether a rule holds and since when, in words: a list of texts and links. */
function verdict(doc, rule) {
  const detail = doc.detail(rule);
  const events = doc.eventsOf(rule);
  const last = (name) => events.findLast(({ event }) => event === name)?.entry;
  const rows = detail.violations ? ` ${violationCount(detail)}.` : "";
  switch (doc.stateOf(rule)) {
    case "violated":
    case "broke": {
      if (!doc.state) return [nearly(detail)];
      const entry = last("lost");
      if (entry) return ["Broke with ", entryLink(entry), ".", rows];
      // A batch whose events are not listed may have broken it.
      return [detail.broke ? "Broke." : "Violated from the start.", rows];
    }
    case "implied": {
      const by = detail.implied_by;
      return by
        ? ["Still holds: it follows from ", impliedBy(doc, rule, by), ", which holds."]
        : ["Still holds: it follows from another rule, or too few rows are left to test it."];
    }
    case "untested":
      return ["It failed once rows tested it."];
    default:
      return held(doc, detail);
  }
}

function nearly({ violations, g3 }) {
  if (violations) return `Holds except for ${counted(violations, "row")}.`;
  return g3 ? `Holds except for ${percent(g3)} of the rows.` : "Holds except for some rows.";
}

/** `3 rows to remove`, `1 violation`. */
function violationCount({ violations, accepted = 0, counted: what = "violations" }) {
  const known = accepted === violations ? ", all accepted" : accepted ? `, ${number(accepted)} accepted` : "";
  return `${number(violations)} ${violations === 1 ? what.replace(/^(\w+)s\b/, "$1") : what}${known}`;
}

function held(doc, detail) {
  if (!doc.state) return ["Holds."];
  const often = detail.broke
    ? ` It broke ${detail.broke === 1 ? "once" : `${number(detail.broke)} times`} before.`
    : "";
  return detail.since ? ["Holds since ", batchLink(detail.since), ".", often] : ["Holds from the start.", often];
}

/** The rule that another follows from: a link where it is in the document. */
function impliedBy(doc, rule, text) {
  const { kind, table: name } = doc.section(rule);
  const found = doc.find(kind, name, text);
  return found < 0 ? el("span.rule", {}, text) : el("a", { href: doc.address(found) }, ruleText(doc, found));
}

/** Rows side by side: the rule's columns first, what offends marked, other columns folded. */
function pairTable(pair) {
  const own = pair.rule_columns.map((name) => pair.columns.indexOf(name)).filter((at) => at >= 0);
  const others = pair.columns.map((_, at) => at).filter((at) => !own.includes(at));
  return el(
    "div.pair",
    {},
    sideBySide(pair, own, pair.sentence),
    others.length
      ? el(
          "details",
          {},
          el("summary", {}, counted(others.length, "other column")),
          sideBySide(pair, others, "Other columns"),
        )
      : null,
  );
}

function sideBySide(pair, places, name) {
  const heads = pair.rows.map((row) =>
    el("th", { scope: "col" }, shortName(row), row.alive === false ? el("span.aside", {}, " deleted since") : null),
  );
  const lines = places.map((at) => {
    const offends = pair.marked.includes(pair.columns[at]);
    const sign = [el("span.sign", { "aria-hidden": "true" }, "◂"), el("span.hidden", {}, " offends")];
    return el(
      offends ? "tr.marked" : "tr",
      {},
      el("th", { scope: "row" }, pair.columns[at]),
      pair.rows.map((row) => el("td", {}, offends ? el("mark", {}, valueOf(row, at)) : valueOf(row, at))),
      el("td", {}, offends ? sign : null),
    );
  });
  return framed(name, "table.rows", [el("th", { scope: "col" }, "column"), heads, el("td")], lines);
}

/** What a row is called where its values are shown anyway: `row 17 (Zip 36104)` is `row 17` there. */
const shortName = ({ row, name }) => (name.startsWith(`row ${row} (`) ? `row ${row}` : name);

/** A value of a row as it is shown. */
function valueOf(row, at) {
  if (!row.values) return el("span.aside", {}, "not kept");
  return row.values[at] ?? el("span.aside", {}, "null");
}

/** What a rule says, where the document doesn't tell. */
function saysOf(doc, rule) {
  const sides = doc
    .line(rule)
    .split(/->| in /)
    .map((side) =>
      (side.match(COLUMN_CHARACTERS) ?? []).map((sign) => doc.namesFor(rule)[sign.charCodeAt(0) - FIRST_COLUMN]),
    );
  const [left, right] = sides.map((names) => names.join(", ").replace(/, ([^,]*)$/, " and $1"));
  const line = doc.line(rule);
  if (isKey(line)) return `No two rows share ${left}.`;
  if (isDependency(line)) return left ? `Rows that share ${left} share ${right}.` : `All rows share ${right}.`;
  return line.includes(" in ") ? `Every value of ${left} is one of ${right}.` : "";
}

const isKey = (line) => line.startsWith("key(");
const isDependency = (line) => line.includes("->") && !line.startsWith("{");

/** Buttons that copy a rule: as text, and as SQL and for a rule file where that can be said. */
function copying(doc, rule) {
  const copies = doc.detail(rule).copy ?? plainCopies(doc, rule);
  const said = el("span.said", { role: "status", "aria-live": "polite" });
  const shown = el("textarea", { readonly: true, hidden: true, rows: "3", "aria-label": "What to copy" });
  const button = (label, text) =>
    text && el("button", { type: "button", click: () => copy(text, label, said, shown) }, label);
  return el(
    "div.copying",
    {},
    button("text", copies.text),
    button("SQL", copies.sql),
    button("rule file", copies.rule),
    said,
    shown,
  );
}

/** Copies a text; where the browser doesn't allow it, the text is shown and selected. */
async function copy(text, label, said, shown) {
  shown.hidden = true;
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = `copied as ${label}`;
  } catch {
    shown.hidden = false;
    shown.value = text;
    shown.focus();
    shown.select();
    said.textContent = document.execCommand?.("copy") ? `copied as ${label}` : "selected: copy it with Ctrl+C";
  }
}

/** The copies of a dependency or key that the document tells no more about. */
function plainCopies(doc, rule) {
  const { table: name } = doc.section(rule);
  const text = doc.text(rule);
  const line = doc.line(rule);
  const about = name && doc.tables.length > 1 ? `table: ${JSON.stringify(name)}, ` : "";
  if (!isKey(line) && !isDependency(line)) return { text };
  return { text, sql: sqlOf(doc, line, name), rule: `- {${about}rule: ${JSON.stringify(text)}}` };
}

/** SQL that lists the groups of rows that break a dependency, or a key; null as the document takes it. */
function sqlOf(doc, line, tableName) {
  const sql = (name) => `"${name.replaceAll('"', '""')}"`;
  const [left, right] = line.split("->").map((side) =>
    [...side]
      .map((sign) => sign.charCodeAt(0) - FIRST_COLUMN)
      .filter((at) => at >= 0 && at < doc.columns.length)
      .map((at) => sql(doc.columns[at].name)),
  );
  const distinct = doc.nulls === "distinct";
  const where = distinct && left.length ? ` WHERE ${left.map((name) => `${name} IS NOT NULL`).join(" AND ")}` : "";
  const grouped = left.length ? ` GROUP BY ${left.join(", ")}` : "";
  const start = `SELECT ${[...left, "COUNT(*)"].join(", ")} FROM ${sql(tableName)}${where}${grouped} HAVING`;
  if (isKey(line)) return `${start} COUNT(*) > 1`;
  const nulls = distinct ? `COUNT(*) - COUNT(${right[0]})` : `MAX(CASE WHEN ${right[0]} IS NULL THEN 1 ELSE 0 END)`;
  return `${start} COUNT(DISTINCT ${right[0]}) + ${nulls} > 1`;
}
