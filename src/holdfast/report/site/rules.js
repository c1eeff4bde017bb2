// All rules: searched, filtered, the first hits, and more when asked. What is asked stands in the address.
"use strict";

const FILTERS = ["q", "class", "column", "side", "state", "score"];

function rulesView(doc, parameters) {
  const asked = Object.fromEntries(FILTERS.map((name) => [name, parameters.get(name) ?? ""]));
  const heading = el("h1", {}, "Rules");
  const hits = el("p.hits", { role: "status", "aria-live": "polite" });
  const found = el("div.found");
  showHits(doc, asked, hits, found, page.opened.most);
  return {
    title: "Rules",
    body: [heading, filters(doc, asked), notes([doc.rules.left_out]), hits, found],
    // Typing in the search box changes what is found, and nothing else on the page.
    searched: (text) => {
      asked.q = text;
      showHits(doc, asked, hits, found);
      return rulesAddress(asked);
    },
  };
}

/** The address of what is asked. */
function rulesAddress(asked) {
  const given = FILTERS.filter((name) => asked[name]).map((name) => `${name}=${encodeURIComponent(asked[name])}`);
  return `#/rules${given.length ? `?${given.join("&")}` : ""}`;
}

/** What is asked, as the index takes it; null where a column is asked for that isn't there. */
function queryOf(doc, asked) {
  const column = asked.column ? doc.columnIndex.get(asked.column) : null;
  if (column === undefined) return null;
  const kinds = asked.class ? asked.class.split(",") : null;
  return { ...wordsOf(asked.q), kinds, column, side: asked.side, state: asked.state, score: Number(asked.score) || 0 };
}

/** The first so many hits; a list that nothing restricts is there without a search. */
function hitsOf(doc, asked, most) {
  const query = queryOf(doc, asked);
  if (query === null) return { count: 0, rules: [] };
  if (FILTERS.every((name) => !asked[name])) {
    return { count: doc.count, rules: Array.from({ length: Math.min(most, doc.count) }, (_, rule) => rule) };
  }
  const started = performance.now();
  const hits = doc.index.search(query, most);
  performance.measure("search", { start: started });
  return hits;
}

function showHits(doc, asked, hits, found, most = PAGE) {
  const { count, rules } = hitsOf(doc, asked, most);
  const restricted = FILTERS.some((name) => asked[name]);
  hits.textContent = restricted ? `${counted(count, "rule")} of ${number(doc.count)}` : counted(count, "rule");
  const shown = count ? [labels(doc)] : [];
  for (const section of doc.rules.sections) {
    const own = rules.filter((rule) => rule >= section.first && rule < section.first + section.count);
    if (own.length)
      shown.push(
        el("h2.section", {}, sectionTitle(doc, section)),
        el(
          "ul.list",
          {},
          own.map((rule) => ruleItem(doc, rule, { withTable: false })),
        ),
      );
  }
  if (!count)
    shown.push(
      el(
        "p.calm",
        {},
        doc.count ? ["No rule matches. ", link("#/rules", "Show all rules")] : "There are no rules.",
      ),
    );
  const left = count - rules.length;
  const more = () => {
    page.opened.most = most + PAGE;
    showHits(doc, asked, hits, found, most + PAGE);
    found.querySelectorAll(".item a.open")[rules.length]?.focus();
  };
  if (left > 0) shown.push(el("button.more", { type: "button", click: more }, `Show more (${number(left)} left)`));
  found.replaceChildren(...shown);
}

function sectionTitle(doc, section) {
  const left = section.total > section.count ? `, the best of ${number(section.total)}` : "";
  const of = section.table && doc.tables.length > 1 ? ` of ${section.table}` : "";
  const bound = section.bound ? `, ${section.bound}` : "";
  return [section.title, of, el("span.aside", {}, ` ${number(section.count)}${left}${bound}`)];
}

/** The choices beside the search box; each leads to an address. */
function filters(doc, asked) {
  const go = (name) => (event) => {
    const changed = { ...asked, [name]: event.target.value, q: byId("query").value };
    if (name === "column" && !changed.column) changed.side = "";
    location.hash = rulesAddress(changed);
  };
  const choice = (name, label, options) =>
    el(
      "label",
      {},
      label,
      el(
        "select",
        { id: `filter-${name}`, change: go(name) },
        options.map(([value, text]) => el("option", { value, selected: asked[name] === value }, text)),
      ),
    );
  const titles = new Map(doc.rules.sections.map((section) => [section.kind, section.title]));
  if (asked.class.includes(",")) titles.set(asked.class, "several");
  const columns = doc.columns.map((_, at) => [
    doc.columnId(at),
    doc.tables.length > 1 ? doc.columnId(at) : doc.columns[at].name,
  ]);
  const any = (text) => ["", text];
  const words = doc.state ? STATE_WORDS : { holds: "holds", violated: STATE_WORDS.nearly };
  const states = STATES.filter((state) => words[state]).map((state) => [state, words[state]]);
  const sides = [any("on any side"), ["left", "on the left"], ["right", "on the right"]];
  const scores = [any("any"), ...[20, 40, 60, 80, 90].map((least) => [String(least), `${least} or more`])];
  if (asked.score && !scores.some(([value]) => value === asked.score))
    scores.push([asked.score, `${asked.score} or more`]);
  return el(
    "form.filters",
    { "aria-label": "Filters", submit: (event) => event.preventDefault() },
    choice("class", "Class", [any("all"), ...titles]),
    choice("column", "Column", [any("all"), ...columns]),
    asked.column ? choice("side", "Where", sides) : null,
    hasStates(doc) ? choice("state", "State", [any("all"), ...states]) : null,
    choice("score", "Score", scores),
    FILTERS.some((name) => asked[name]) ? el("a.clear", { href: "#/rules" }, "Clear all") : null,
  );
}
