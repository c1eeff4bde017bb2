// Batches: all of them, one, and the difference between two.
"use strict";

const EVENTS = [
  ["lost", "Broke", "broke"],
  ["worse", "Broke further", "broke further"],
  ["gained", "Came to hold", "came to hold"],
  [
    "implied",
    "Came to follow from others, or too few rows test them",
    "came to follow from others, or were left with too few rows that test them",
  ],
  ["untested", "Failed once rows tested them", "failed once rows tested them"],
];

const EVENTS_SHOWN = 40; // of each kind, before one asks for more

function batchesView(doc) {
  if (!doc.batches.length)
    return { title: "Batches", body: [el("h1", {}, "Batches"), el("p.calm", {}, "No batch was applied yet.")] };
  const newest = doc.batches.toSorted((one, other) => other.seq - one.seq);
  const step = 200;
  const rows = newest.map((batch) => [
    el("a.item", { href: entryAddress(batch), "aria-label": entryName(batch) }, batch.changed ? "–" : number(batch.batch)),
    ...["lost", "worse", "gained", "implied"].map((event) => eventCount(batch, event)),
    moment(batch.at),
    batch.table,
    batch.how,
    number(batch.inserted),
    number(batch.deleted),
    batch.table ? number(batch.rows) : "–",
    milliseconds(batch.seconds),
    el("span.aside", {}, batch.id),
  ]);
  const headings = [
    "batch#",
    "broke#",
    "broke further#",
    "came to hold#",
    "implied#",
    "applied at",
    "table",
    "what",
    "rows in#",
    "rows out#",
    "rows then#",
    "ms#",
    "id",
  ];
  const shown = el("div", {}, table("Batches, the newest first", headings, rows.slice(0, step), "table.listing"));
  const all = () => shown.replaceChildren(table("Batches, the newest first", headings, rows, "table.listing"));
  return {
    title: "Batches",
    body: [
      el("h1", {}, "Batches"),
      comparing(doc, doc.ofRows()[0]?.batch, newest[0].batch),
      shown,
      rows.length > step
        ? el(
            "button.more",
            {
              type: "button",
              click: (event) => {
                all();
                event.target.remove();
              },
            },
            `Show all ${number(rows.length)}`,
          )
        : null,
    ],
  };
}

const milliseconds = (seconds) => number(Math.round(seconds * 1000));

function eventCount(batch, event) {
  const count = batch[event] ?? 0;
  if (!count) return el("span.zero", {}, "0");
  return event === "lost" || event === "worse" ? el("span.bad", {}, number(count)) : number(count);
}

/** One batch, or one change. */
function entryView(doc, batch, written) {
  if (!batch) return missingView(`There is no ${written} in this document.`);
  const entries = doc.batches.toSorted((one, other) => one.seq - other.seq);
  const place = entries.indexOf(batch);
  return {
    title: capitalized(entryName(batch)),
    body: [
      el("p.kicker", {}, link("#/batches", "Batches")),
      el("h1", {}, batchTitle(batch)),
      batch.changed ? el("ul.says", {}, batch.changed.map((line) => el("li", {}, line))) : el("p.says", {}, batchSentence(batch)),
      batch.unusual ? part("Far outside of what is usual", el("ul.says", {}, batch.unusual.map((line) => el("li", {}, line)))) : null,
      el(
        "p.facts",
        {},
        `${moment(batch.at)} · ${batch.how} · ${milliseconds(batch.seconds)} ms · `,
        `${batch.changed ? "" : `${counted(batch.rows, "row")} then · `}id ${batch.id}`,
      ),
      steps(entries[place - 1], entries[place + 1]),
      EVENTS.map(([event, title]) => eventPart(doc, batch, event, title)),
      batch.more ? el("p.aside", {}, `Not listed here: ${counted(batch.more, "more event")} of this batch.`) : null,
      part("Difference to another batch", comparing(doc, batch.batch > 1 ? batch.batch - 1 : batch.batch, batch.batch)),
    ],
  };
}

/** A batch of rows, or a change of the rules or columns. */
function batchTitle(batch) {
  const on = batch.table ? ` of ${batch.table}` : "";
  return batch.changed ? `Change of the ${batch.how}${on}${batch.batch ? ` after batch ${number(batch.batch)}` : ""}` : `Batch ${number(batch.batch)} on ${batch.table}`;
}

/** What came, and what it did, in a sentence. */
function batchSentence(batch) {
  const ignored = batch.ignored
    ? ` ${counted(batch.ignored, "operation")} on rows that aren't there were ignored.`
    : "";
  const did = EVENTS.filter(([event]) => batch[event]).map(
    ([event, , words]) => `${counted(batch[event], "rule")} ${words}`,
  );
  const effect = did.length ? `${did.join(", ")}.` : "No rule broke or came.";
  return `${counted(batch.inserted, "row")} in, ${number(batch.deleted)} out.${ignored} ${effect}`;
}

function steps(before, after) {
  return el(
    "p.steps",
    {},
    before && el("a", { href: entryAddress(before), rel: "prev" }, `← ${entryName(before)}`),
    after && el("a", { href: entryAddress(after), rel: "next" }, `${entryName(after)} →`),
  );
}

function eventPart(doc, batch, event, title) {
  const events = batch.events.filter(([name]) => name === event);
  if (!events.length && !batch[event]) return null;
  const by = new Map(events.map(([, rule, text]) => [rule, text]));
  const note = (rule) => ({ now: "now ", note: eventNote(doc, rule, batch, by.get(rule)) });
  const all =
    batch[event] > events.length ? ` ${number(events.length)} of ${number(batch[event])}` : ` ${number(events.length)}`;
  return part([title, el("span.aside", {}, all)], ruleList(doc, bestFirst(doc, [...by.keys()]), note, EVENTS_SHOWN));
}

/** Rules by score; those without one, as what broke is, stay in their order. */
const bestFirst = (doc, rules) => rules.toSorted((one, other) => (doc.scoreOf(other) ?? -1) - (doc.scoreOf(one) ?? -1));

/** Why a batch broke a rule, or what the rule follows from. */
function eventNote(doc, rule, entry, by) {
  if (by) return ["follows from ", impliedBy(doc, rule, by)];
  return doc.detail(rule).pairs?.find((pair) => pair.batch === entry.batch)?.sentence ?? null;
}

/** Two batches to choose, and the way to their difference. */
function comparing(doc, before, after) {
  const numbers = [0, ...doc.ofRows().map(({ batch }) => batch)];
  const choice = (id, label, chosen) =>
    el(
      "label",
      {},
      label,
      el(
        "select",
        { id },
        numbers.map((each) => el("option", { value: each, selected: each === chosen }, each ? `batch ${number(each)}` : "the start")),
      ),
    );
  const one = choice("from-batch", "From", before);
  const other = choice("to-batch", "to", after);
  const go = (event) => {
    event.preventDefault();
    location.hash = `#/between/${one.querySelector("select").value}/${other.querySelector("select").value}`;
  };
  return el(
    "form.filters",
    { "aria-label": "Difference between two batches", submit: go },
    one,
    other,
    el("button", {}, "Show the difference"),
  );
}

/** The net effect of all batches behind one, up to another, and of the changes after these. */
function betweenView(doc, first, last) {
  const [from, to] = [Number(first), Number(last)].sort((one, other) => one - other);
  if (![from, to].every((each) => each === 0 || doc.batchNumbered(each)))
    return missingView("One of these batches isn't in this document.");
  const within = doc.batches
    .filter(({ batch }) => batch > from && batch <= to)
    .sort((one, other) => one.seq - other.seq);
  const effect = netEffect(doc, within, from);
  const more = within.reduce((sum, batch) => sum + (batch.more ?? 0), 0);
  const rows = within.reduce((sum, batch) => [sum[0] + batch.inserted, sum[1] + batch.deleted], [0, 0]);
  const lists = [
    ["broke", "Broke"],
    ["worse", "Broke further"],
    ["again", "Hold again"],
    ["fresh", "New"],
    ["implied", "Came to follow from others, or too few rows test them"],
    ["untested", "Failed once rows tested them"],
    ["passing", "Broke, and hold again"],
  ];
  const shown = lists
    .map(([name, title]) =>
      effect[name].length
        ? part(
            [title, el("span.aside", {}, ` ${number(effect[name].length)}`)],
            ruleList(
              doc,
              bestFirst(doc, effect[name]),
              (rule) => ({ now: "now ", ...effect.why.get(rule) }),
              EVENTS_SHOWN,
            ),
          )
        : null,
    )
    .filter(Boolean);
  return {
    title: `From ${from || "the start"} to batch ${to}`,
    body: [
      el("p.kicker", {}, link("#/batches", "Batches")),
      el("h1", {}, `From ${from ? `batch ${number(from)}` : "the start"} to batch ${number(to)}`),
      el(
        "p.says",
        {},
        `${counted(to - from, "batch", "batches")}: ${counted(rows[0], "row")} in, ${number(rows[1])} out.`,
      ),
      more
        ? el(
            "p.aside",
            {},
            `Not listed in this document: ${counted(more, "event")} of these batches, so rules may be missing below.`,
          )
        : null,
      comparing(doc, from, to),
      shown.length ? shown : el("p.calm", {}, "The same rules hold after both."),
    ],
  };
}

/** Rules by what became of them: each held or not before its first event, and holds or not after its last. */
function netEffect(doc, batches, from) {
  const effect = { broke: [], worse: [], again: [], fresh: [], implied: [], untested: [], passing: [], why: new Map() };
  const eventsOfRule = new Map();
  for (const batch of batches) {
    for (const [event, rule, by] of batch.events) {
      if (!eventsOfRule.has(rule)) eventsOfRule.set(rule, []);
      eventsOfRule.get(rule).push({ event, by, entry: batch });
    }
  }
  for (const [rule, events] of eventsOfRule) {
    const held = !["gained", "worse"].includes(events[0].event);
    const became = outcome(doc, rule, events, held, from);
    const last = (became === "broke" && events.findLast(({ event }) => event === "lost")) || events.at(-1);
    effect[became]?.push(rule);
    effect.why.set(rule, { aside: entryLink(last.entry), note: eventNote(doc, rule, last.entry, last.by) });
  }
  return effect;
}

function outcome(doc, rule, events, held, from) {
  const last = events[events.length - 1].event;
  if (last === "gained") {
    if (held) return events.some(({ event }) => event === "lost") ? "passing" : null;
    return doc.eventsOf(rule).some(({ event, entry }) => event === "lost" && entry.batch <= from) ? "again" : "fresh";
  }
  if (last === "lost" || last === "worse")
    return held ? "broke" : events.some(({ event }) => event === "lost") ? null : "worse";
  return held ? last : null;
}
