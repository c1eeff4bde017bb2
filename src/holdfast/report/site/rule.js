// One rule: what it says, its timeline, and the rows that broke it.
"use strict";

const PAIRS_A_PAGE = 10;

function ruleView(doc, kind, tableName, text) {
  const rule = doc.find(kind, tableName, text);
  if (rule < 0) return missingView(`There is no rule ${text} in this document.`, doc.rules.left_out);
  const detail = doc.detail(rule);
  const section = doc.section(rule);
  const says = detail.says ?? saysOf(doc, rule);
  const kicker = [
    link(`#/rules?class=${encodeURIComponent(kind)}`, section.title),
    section.table ? ` of ${section.table}` : null,
    detail.severity ? ` · ${detail.severity === "warn" ? "warning" : detail.severity}` : null,
    detail.mark ? ` · ${detail.mark}` : null,
  ];
  return {
    title: text,
    body: [
      el("p.kicker", {}, kicker),
      el("h1.ruleline", {}, detail.name ? el("span.name", {}, `${detail.name}: `) : null, ruleText(doc, rule, true)),
      says ? el("p.says", {}, says) : null,
      detail.note ? el("p.says.aside", {}, detail.note) : null,
      el(
        `p.verdict.${seenState(doc, rule)}`,
        {},
        el("span.sign", { "aria-hidden": "true" }, SIGNS[seenState(doc, rule)]),
        " ",
        verdict(doc, rule),
      ),
      timeline(doc, rule),
      twoColumns(
        [brokenBy(detail), violationsPart(doc, rule), worklist(detail)],
        [
          evidence(doc, rule),
          part("Copy as", copying(doc, rule)),
          overTime(detail),
          eventsPart(doc, rule),
          columnsPart(doc, rule),
        ],
      ),
    ],
  };
}

/** The strip in large, with what its colours mean. */
function timeline(doc, rule) {
  const drawn = strip(doc, rule, true);
  if (!drawn) return null;
  const words = {
    held: "held",
    broken: "broken",
    implied: "follows from another rule, or too few rows test it",
    untested: "failed once rows tested it",
    absent: "not known yet",
  };
  const seen = Object.entries(words).filter(([name]) => drawn.querySelector(`.hf-${name}`));
  const last = doc.batches.reduce((most, batch) => Math.max(most, batch.batch), 0);
  return el(
    "figure.history",
    {},
    el(
      "div.timeline",
      {},
      drawn,
      el("p.ends", { "aria-hidden": "true" }, el("span", {}, "start"), el("span", {}, `batch ${number(last)}`)),
    ),
    el(
      "figcaption.legend",
      {},
      "One cell a batch: ",
      seen.map(([name, said]) => el("span.key", {}, el(`span.swatch.${name}`, { "aria-hidden": "true" }), said)),
    ),
  );
}

/** The rows side by side, the newest pair first; all but the first are folded. */
function brokenBy(detail) {
  const pairs = detail.pairs ?? [];
  if (!pairs.length) return null;
  const title = pairs[0].rows.length === 1 ? "The row that broke it" : "The two rows that broke it";
  const when = pairs[0].batch ? [" ", el("span.aside", {}, "with ", batchLink(pairs[0].batch))] : null;
  return part([title, when], el("p.why", {}, pairs[0].sentence), pairTable(pairs[0]), pairs.slice(1).map(foldedPair));
}

/** Rows that broke a rule, in a line that opens. */
function foldedPair(pair) {
  const names = el("b", {}, pair.rows.map(shortName).join(" and "));
  const when = pair.batch ? el("span.aside", {}, ` batch ${number(pair.batch)}`) : null;
  return el("details.other", {}, el("summary", {}, names, when, " ", pair.sentence), pairTable(pair));
}

function evidence(doc, rule) {
  const detail = doc.detail(rule);
  const score = doc.scoreOf(rule);
  const lines = [...(detail.evidence ?? [])];
  if (detail.g3 && doc.state) lines.push(`${percent(detail.g3)} of the rows would have to go for it to hold.`);
  return part(
    "Score and evidence",
    el("p.bigscore", {}, score === null ? "No score is known." : [scoreMark(score), el("span.aside", {}, " of 100")]),
    lines.length
      ? el(
          "ul.evidence",
          {},
          lines.map((line) => el("li", {}, line)),
        )
      : null,
  );
}

const overTime = (detail) => part("Violations over time", overBatches(detail.line, "None after any batch."));

function eventsPart(doc, rule) {
  const words = {
    lost: "broke it",
    worse: "broke it further",
    gained: "mended it",
    implied: "made it follow from another, or left too few rows that test it",
    untested: "brought values for which it does not hold",
  };
  const wordsBy = { implied: "made it follow from another" };
  const events = doc.eventsOf(rule).toReversed();
  return part(
    "Batches",
    events.length
      ? el(
          "ul.evidence",
          {},
          events.map(({ entry, event, by }) =>
            el("li", {}, entryLink(entry), ` ${(by && wordsBy[event]) ?? words[event] ?? event}`, by ? [": ", impliedBy(doc, rule, by)] : null),
          ),
        )
      : null,
  );
}

function columnsPart(doc, rule) {
  const columns = doc.columnsOf(rule);
  const names = doc.namesFor(rule);
  return part(
    "Columns",
    columns.length
      ? el(
          "p",
          {},
          columns.map((at, place) => [place ? ", " : "", link(doc.columnAddress(at), names[at])]),
        )
      : null,
  );
}

/** What to remove, so that the rule holds. */
function worklist(detail) {
  const list = detail.worklist;
  if (!list) return null;
  const rows = list.rows.map((row) => [shortName(row), ...list.columns.map((_, at) => row.values[at] ?? "null")]);
  return part(
    "Worklist",
    el("p", {}, list.sentence),
    rows.length ? table("Worklist", ["row", ...list.columns], rows, "table.listing") : null,
    list.more ? el("p.aside", {}, `${number(list.more)} more are not listed here.`) : null,
  );
}

/** The violations, page by page, from the server. */
function violationsPart(doc, rule) {
  const detail = doc.detail(rule);
  if (!doc.live || !detail.listed || !detail.violations) return null;
  const list = el("div.pages");
  const where = el("span", { role: "status", "aria-live": "polite" });
  const step = (label, by) => el("button", { type: "button", click: () => turn(from + by) }, label);
  const [previous, next] = [step("Previous", -PAIRS_A_PAGE), step("Next", PAIRS_A_PAGE)];
  let from = 0;
  async function turn(start) {
    const asked = new URLSearchParams({ rule: detail.name ?? doc.text(rule), from: start, count: PAIRS_A_PAGE });
    try {
      const answer = await fetched(`api/violations?${asked}`);
      if (start && start >= answer.total) return turn(0); // there are fewer now
      from = page.opened.from = start;
      list.replaceChildren(...answer.violations.map(foldedPair));
      const last = from + answer.violations.length;
      where.textContent = `${number(from + 1)} to ${number(last)} of ${number(answer.total)}`;
      previous.disabled = from === 0;
      next.disabled = from + PAIRS_A_PAGE >= answer.total;
    } catch (error) {
      where.textContent = `Violations can't be shown: ${error.message}`;
    }
  }
  turn(page.opened.from ?? 0);
  return part("All violations", list, el("p.paging", {}, previous, next, " ", where));
}

/** Where an address means nothing. */
function missingView(sentence, note) {
  return {
    title: "Not here",
    body: [
      el("h1", {}, "Not here"),
      el("p", {}, sentence),
      note ? el("p.aside", {}, note) : null,
      el("p", {}, link("#/", "To the overview")),
    ],
  };
}
