// Columns, the column lens, and tables with their references.
"use strict";

const LENS_SHOWN = 8;

function columnsView(doc) {
  const parts = doc.tables.map((each) => {
    const rows = each.columns.map((at) => {
      const column = doc.columns[at];
      return [
        el("a.item", { href: doc.columnAddress(at) }, column.name),
        column.type,
        nullCell(column),
        number(column.distinct),
        column.min ?? "",
        column.max ?? "",
        smallDistribution(column),
      ];
    });
    const headings = ["column", "type", "nulls#", "distinct#", "least", "greatest", "values"];
    return part(
      [each.name, el("span.aside", {}, ` ${counted(each.rows, "row")}`)],
      table(`Columns of ${each.name}`, headings, rows, "table.catalog"),
    );
  });
  return { title: "Columns", body: [el("h1", {}, "Columns"), parts] };
}

/** A histogram without its letters, or the most frequent values in words. */
function smallDistribution(column) {
  if (column.distribution?.includes("hf-histogram")) return picture(column.distribution, "small");
  const shown = (column.frequent ?? []).slice(0, 3);
  return el(
    "p.frequent",
    {},
    shown.map(([value, count]) =>
      el("span", {}, el("span.value", {}, value), el("span.aside", {}, ` ${number(count)}`)),
    ),
  );
}

function nullCell(column) {
  return column.nulls ? `${number(column.nulls)} (${percent(column.nulls / column.rows)})` : el("span.zero", {}, "0");
}

/** The lens: all that rules say of a column, the best first. */
function columnView(doc, tableName, name) {
  const at = doc.columnIndex.get(`${tableName}.${name}`);
  if (at === undefined) return missingView(`There is no column ${name} in ${tableName}.`);
  const column = doc.columns[at];
  const groups = lensQueries(doc).map(([title, query]) => ({
    title,
    query,
    ...doc.index.search({ ...query, words: [], column: at }, LENS_SHOWN, true),
  }));
  return {
    title: `${tableName}.${name}`,
    body: [
      el("p.kicker", {}, link("#/columns", "Columns"), ` of ${tableName}`),
      el("h1", {}, column.name),
      el("p.says", {}, columnSentence(doc, at)),
      el(
        "div.columns",
        {},
        el(
          "div",
          {},
          groups.map((group) => lensPart(doc, at, group)),
          noRules(groups),
        ),
        el(
          "div",
          {},
          part("Distribution", picture(column.distribution, "picture"), frequent(column)),
          part("Nulls over time", overBatches(column.nulls_line, "None after any batch.")),
        ),
      ),
    ],
  };
}

/** The headings of the lens, found rules before given ones, each with the classes of rules that stand below it. */
function lensQueries(doc) {
  const queries = new Map();
  const sections = [...doc.rules.sections].sort((one, other) => one.given - other.given);
  for (const { kind, lens } of sections) {
    for (const [title, side] of lens) {
      if (!queries.has(title)) queries.set(title, { kinds: [], side });
      const { kinds } = queries.get(title);
      if (!kinds.includes(kind)) kinds.push(kind);
    }
  }
  return [...queries];
}

function columnSentence(doc, at) {
  const column = doc.columns[at];
  const key = doc.tables[column.table].key?.includes(column.name) ? " Part of the declared key." : "";
  const nulls = column.nulls
    ? `${number(column.nulls)} of ${counted(column.rows, "row")} are null (${percent(column.nulls / column.rows)})`
    : "no nulls";
  const range = column.distinct ? `, from ${column.min} to ${column.max}` : "";
  const same = column.same?.length ? ` It says the same as ${column.same.join(", ")}.` : "";
  const type = capitalized(column.type);
  return `${type}: ${counted(column.distinct, "distinct value")}, ${nulls}${range}.${key}${same}`;
}

function lensPart(doc, at, { title, query, count, rules }) {
  if (!count) return null;
  const asked = { class: query.kinds.join(","), column: doc.columnId(at), side: query.side };
  const all = count > rules.length ? el("p", {}, link(rulesAddress(asked), `All ${number(count)}`)) : null;
  return part(
    [title, el("span.aside", {}, ` ${number(count)}`)],
    el(
      "ul.list",
      {},
      rules.map((rule) => ruleItem(doc, rule, { withTable: false })),
    ),
    all,
  );
}

/** The groups that have no rule, in one line. */
function noRules(groups) {
  const empty = groups.filter(({ count }) => !count).map(({ title }) => title.toLowerCase());
  return empty.length ? part("No rule", el("p.calm", {}, empty.join(", "))) : null;
}

function frequent(column) {
  if (!column.frequent?.length) return null;
  const rows = column.frequent.map(([value, count]) => [
    value,
    number(count),
    percent(column.rows ? count / column.rows : 0),
  ]);
  return el(
    "details",
    {},
    el("summary", {}, "Most frequent values"),
    table("Most frequent values", ["value", "rows#", "share#"], rows),
  );
}

function tablesView(doc) {
  return {
    title: "Tables",
    body: [
      el("h1", {}, "Tables"),
      doc.picture
        ? part(
            "How they refer to each other",
            el("div.scroll", { "data-name": "How tables refer to each other" }, picture(doc.picture)),
            references(doc),
          )
        : null,
      el(
        "div.parts",
        {},
        doc.tables.map((each) => part(each.name, aboutTable(doc, each))),
      ),
    ],
  };
}

/** References in words, with how many rows have a partner. */
function references(doc) {
  const rows = doc.references.map((each) => [
    el("a.item", { href: doc.address(each.rule) }, each.text),
    percent(each.coverage),
    each.orphans ? el("span.bad", {}, number(each.orphans)) : el("span.zero", {}, "0"),
    each.sentence,
  ]);
  return table("References", ["reference", "coverage#", "orphans#", "in words"], rows, "table.words");
}

function aboutTable(doc, each) {
  const names = each.columns.map((at, place) => [place ? ", " : "", link(doc.columnAddress(at), doc.columns[at].name)]);
  return [
    el(
      "p",
      {},
      `${counted(each.rows, "row")}. `,
      each.key?.length ? `Rows are known by ${each.key.join(", ")}. ` : "No key is declared. ",
      each.left_out?.length ? `Left out, as their values can't be compared: ${each.left_out.join(", ")}.` : null,
    ),
    el("p.names", {}, `${counted(each.columns.length, "column")}: `, names),
    picture(each.rows_line, "line"),
  ];
}
