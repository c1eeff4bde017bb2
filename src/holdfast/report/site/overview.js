// The overview: in one minute, what holds, what broke, since when and because of which rows.
"use strict";

const CARDS = 4; // of what broke last, so many in full

function overviewView(doc) {
  const { overview } = doc;
  const best = overview.best.filter((rule) => doc.scoreOf(rule) !== 0); // of 0: they hold, but look like accidents
  return {
    title: "Overview",
    body: [
      el("h1.sentence", {}, overview.sentence),
      el("p.facts", {}, facts(doc)),
      twoColumns([brokeLast(doc), unusualLast(doc), lookAt(doc)], [classes(doc), tablesPart(doc)]),
      part("The best rules", best.length ? ruleList(doc, best) : null),
      part("What this page leaves out", notes([...(doc.notes ?? []), doc.rules.left_out])),
    ],
  };
}

function facts(doc) {
  const shown = [counted(doc.tables.length, "table"), counted(doc.columns.length, "column")];
  if (doc.state) shown.push(link("#/batches", counted(doc.ofRows().length, "batch", "batches")));
  const latest = doc.batches.reduce((last, batch) => (!last || batch.seq > last.seq ? batch : last), null);
  if (latest) shown.push([`last change ${moment(latest.at)}, `, entryLink(latest)]);
  if (doc.redacted) shown.push("values are hashed");
  return shown.map((text, at) => [at ? " · " : "", text]);
}

function notes(sentences) {
  const shown = sentences.filter(Boolean);
  return shown.length
    ? el(
        "ul.notes",
        {},
        shown.map((text) => el("li", {}, text)),
      )
    : null;
}

/** What broke last: each with its strip, the batch, and why. */
function brokeLast(doc) {
  if (!doc.state && !doc.overview.broke.length) return null;
  if (!doc.overview.broke.length) return part("What broke last", el("p.calm", {}, "Nothing broke."));
  const [first, rest] = [doc.overview.broke.slice(0, CARDS), doc.overview.broke.slice(CARDS)];
  return part(
    "What broke last",
    el(
      "ul.list",
      {},
      first.map((rule) => brokenCard(doc, rule)),
    ),
    rest.length
      ? [el("p.calm", {}, "Earlier, or less important:"), ruleList(doc, rest, () => ({ scored: false }))]
      : null,
  );
}

/** What was far outside in the last batches that had such figures. */
function unusualLast(doc) {
  const found = doc.batches.filter((batch) => batch.unusual).toSorted((one, other) => other.seq - one.seq);
  if (!found.length) return null;
  const lines = found.slice(0, CARDS).flatMap((batch) => batch.unusual.map((line) => el("li", {}, [entryLink(batch), `: ${line}`])));
  return part("Far outside of what is usual", el("ul.notes", {}, lines));
}

function brokenCard(doc, rule) {
  const first = doc.detail(rule).pairs?.[0];
  return el(
    "li.item.card",
    {},
    el("p.head", {}, stateMark(doc, rule), ruleLink(doc, rule)),
    strip(doc, rule),
    first ? el("p", {}, first.sentence) : null,
    el("p.note", {}, verdict(doc, rule)),
  );
}

/** Numbers by class, each a link to the rules that it counts. */
function classes(doc) {
  const rows = doc.overview.classes
    .toSorted((one, other) => other.given - one.given)
    .map((row) => [
      link(`#/rules?class=${encodeURIComponent(row.kind)}`, row.title),
      stateCount(row, "holds", row.holds, "hold"),
      doc.state
        ? stateCount(row, row.given ? "violated" : "broke", row.violated + row.broke, "don't hold")
        : stateCount(row, "violated", row.violated + row.broke, "nearly hold"),
    ]);
  const headings = ["class", "hold#", doc.state ? "don't hold#" : "nearly#"];
  return part("What holds", rows.length ? table("What holds, by class", headings, rows) : null);
}

function stateCount(row, state, count, words) {
  if (!count) return el("span.zero", {}, "0");
  const href = `#/rules?class=${encodeURIComponent(row.kind)}&state=${state}`;
  const tag = words === "don't hold" ? "a.bad" : "a";
  return el(tag, { href, "aria-label": `${number(count)} ${row.title} ${words}` }, number(count));
}

function tablesPart(doc) {
  const lines = doc.tables.map((each) =>
    el(
      "li",
      {},
      el(
        "p",
        {},
        link(`#/tables`, el("b", {}, each.name)),
        ` ${counted(each.rows, "row")}, ${counted(each.columns.length, "column")}`,
      ),
      picture(each.rows_line, "line"),
    ),
  );
  return part(doc.tables.length === 1 ? "The table" : "Tables", el("ul.tables", {}, lines));
}

/** The rows to look at first, each with the rules that it breaks, and with the cells that offend. */
function lookAt(doc) {
  const shown = doc.overview.look_at.map((row) =>
    el(
      "li.item.card",
      {},
      el(
        "p.head",
        {},
        el("b", {}, shortName(row)),
        doc.tables.length > 1 ? el("span.aside", {}, ` of ${row.table}`) : null,
        " ",
        whyLookAt(doc, row),
      ),
      cells(row),
    ),
  );
  return part("Rows to look at first", shown.length ? el("ol.list", {}, shown) : null);
}

function whyLookAt(doc, row) {
  if (!row.rules.length) return row.why;
  const named = (rule) => doc.detail(rule).name ?? ruleText(doc, rule);
  return [
    "breaks ",
    row.rules.map((rule, at) => [at ? "; " : "", link(doc.address(rule), named(rule))]),
    row.more ? ` and ${number(row.more)} more` : null,
  ];
}

/** A row on one line, what offends first and marked. */
function cells(row) {
  const offends = (at) => row.marked.includes(row.columns[at]);
  const places = row.columns.map((_, at) => at).sort((one, other) => offends(other) - offends(one));
  const heads = places.map((at) =>
    el(offends(at) ? "th.offends" : "th", { scope: "col" }, row.columns[at], offends(at) ? " ✗" : null),
  );
  const values = places.map((at) => el("td", {}, offends(at) ? el("mark", {}, valueOf(row, at)) : valueOf(row, at)));
  return framed(row.name, "table.cells", heads, el("tr", {}, values));
}
