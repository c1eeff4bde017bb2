// The document: unpacking it, and asking it about rules and columns.
//
// The texts of all rules are one string, a line each, in which a column is a single character from the private use
// area. Lines are found when they are asked for: a million of them are never split before something is shown.
"use strict";

const FIRST_COLUMN = 0xe000;
const LAST_COLUMN = 0xf8ff;
const COLUMN_CHARACTERS = /[\ue000-\uf8ff]/g;
const MOST_READ = 50000; // lines, to find one
const STATES = ["holds", "violated", "broke", "implied", "untested"];

/** The document that the page carries, or that the server sends where the page carries none. */
async function load() {
  const packed = byId("data").textContent;
  if (!packed) return fetched("api/document");
  if (typeof DecompressionStream === "undefined") {
    throw new Error(
      "This browser is too old to unpack the data of this page: please open it in a newer one (from 2023 on).",
    );
  }
  return JSON.parse(await inflated(bytesOf(packed)));
}

/** The text that was deflated. Decoding pieces as they come takes half the time of a `Response` over the stream. */
async function inflated(bytes) {
  const stream = new DecompressionStream("deflate");
  const writer = stream.writable.getWriter();
  const written = writer.write(bytes).then(() => writer.close());
  const decoder = new TextDecoder();
  const pieces = [];
  const reader = stream.readable.getReader();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    pieces.push(decoder.decode(piece.value, { stream: true }));
  }
  await written;
  return pieces.join("") + decoder.decode();
}

/** The bytes of a base64 text. */
function bytesOf(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const characters = atob(text);
  const bytes = new Uint8Array(characters.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = characters.charCodeAt(at);
  return bytes;
}

/** What the server answers to an address, as JSON; an error in words where it doesn't. */
async function fetched(address) {
  const answer = await fetch(address);
  if (answer.ok) return answer.json();
  const said = await answer.json().catch(() => ({}));
  throw new Error(said.error ?? `the server answered ${answer.status} to ${address}`);
}

/** A name as rules write it: plain words as they are, all others in double quotes. */
const quoted = (name) => (/^[\p{L}_][\p{L}\p{N}_]*$/u.test(name) ? name : `"${name.replaceAll('"', '""')}"`);

/** A document, with answers to what views ask. */
class Doc {
  constructor(json) {
    Object.assign(this, json);
    this.names = this.columns.map((column) => column.quoted ?? quoted(column.name));
    this.fullNames = this.columns.map((column, at) => `${quoted(this.tables[column.table].name)}.${this.names[at]}`);
    this.columnIndex = new Map(this.columns.map((column, at) => [this.columnId(at), at]).reverse());
    this.details = this.rules.details;
    this.count = this.rules.sections.reduce((sum, section) => sum + section.count, 0);
    this.starts = new Int32Array(this.count + 1); // where lines start, known up to line `known`
    this.known = 0;
    this.index = new RuleIndex(this);
    this.batchAt = new Map(this.batches.map((batch, at) => [batch.seq, at]));
  }

  /** What an address calls a column. */
  columnId(at) {
    const column = this.columns[at];
    return `${this.tables[column.table].name}.${column.name}`;
  }

  /** A rule's line, columns as characters. */
  line(rule) {
    this.knowLines(rule + 1);
    return this.rules.texts.slice(this.starts[rule], this.starts[rule + 1] - 1);
  }

  knowLines(upTo) {
    for (; this.known < upTo; this.known++) {
      const end = this.rules.texts.indexOf("\n", this.starts[this.known]);
      this.starts[this.known + 1] = (end < 0 ? this.rules.texts.length : end) + 1;
    }
  }

  /** The section that a rule stands in. */
  section(rule) {
    return this.rules.sections.find((section) => rule < section.first + section.count);
  }

  /** The names of columns in a rule: with their table where it is about several. */
  namesFor(rule) {
    return this.section(rule).table ? this.names : this.fullNames;
  }

  /** A rule as people read and write it. */
  text(rule) {
    const names = this.namesFor(rule);
    return this.line(rule).replace(COLUMN_CHARACTERS, (sign) => names[sign.charCodeAt(0) - FIRST_COLUMN]);
  }

  /** The columns that a rule names, each once. */
  columnsOf(rule) {
    return [...new Set(this.line(rule).match(COLUMN_CHARACTERS))].map((sign) => sign.charCodeAt(0) - FIRST_COLUMN);
  }

  detail(rule) {
    return this.details[rule] ?? {};
  }

  stateOf(rule) {
    return STATES[this.rules.states[rule]] ?? "holds";
  }

  /** The score in percent, null where none is known. */
  scoreOf(rule) {
    const score = this.rules.scores[rule] ?? -1;
    return score < 0 ? null : score;
  }

  /** The address of a rule's page. */
  address(rule) {
    const { kind, table: name } = this.section(rule);
    return `#/rule/${[kind, name, this.text(rule)].map(encodeURIComponent).join("/")}`;
  }

  columnAddress(at) {
    const column = this.columns[at];
    return `#/column/${[this.tables[column.table].name, column.name].map(encodeURIComponent).join("/")}`;
  }

  /** The rule that an address means, -1 where there is none. */
  find(kind, tableName, text) {
    for (const section of this.rules.sections) {
      if (section.kind !== kind || section.table !== tableName) continue;
      const found = this.findIn(section, text);
      if (found >= 0) return found;
    }
    return -1;
  }

  /** As the line is most likely written; else, as names may hide in texts of few rules, by reading all lines. */
  findIn(section, text) {
    const last = section.first + section.count;
    this.knowLines(last);
    const sought = this.coded(section, text);
    let at = this.starts[section.first];
    while ((at = this.rules.texts.indexOf(sought, at)) >= 0 && at < this.starts[last]) {
      const rule = this.lineAt(at);
      if (this.starts[rule] === at && this.starts[rule + 1] === at + sought.length + 1) return rule;
      at++;
    }
    if (section.count > MOST_READ) return -1;
    for (let rule = section.first; rule < last; rule++) if (this.text(rule) === text) return rule;
    return -1;
  }

  coded(section, text) {
    const names = section.table ? this.names : this.fullNames;
    const signs = new Map();
    this.columns.forEach((column, at) => {
      if (section.table && this.tables[column.table].name !== section.table) return;
      if (at <= LAST_COLUMN - FIRST_COLUMN) signs.set(names[at], String.fromCharCode(FIRST_COLUMN + at));
    });
    const name = '(?:"(?:[^"]|"")*"|[\\p{L}_][\\p{L}\\p{N}_]*)';
    const written = new RegExp(section.table ? name : `${name}\\.${name}|${name}`, "gu");
    return text.replace(written, (word) => signs.get(word) ?? word);
  }

  /** The line that a place in the texts belongs to. */
  lineAt(place) {
    let [low, high] = [0, this.count - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (this.starts[middle] <= place) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  /** A batch or change by its place in the history. */
  entry(seq) {
    return this.batches[this.batchAt.get(seq)];
  }

  /** The batch with a number. */
  batchNumbered(number) {
    return this.ofRows().find((entry) => entry.batch === number);
  }

  /** The batches that are no changes, the oldest first. */
  ofRows() {
    return this.batches.filter((entry) => !entry.changed).sort((one, other) => one.seq - other.seq);
  }

  /** What batches and changes did to a rule, the oldest first: `{entry, event, by}`. */
  eventsOf(rule) {
    if (!this.events) {
      this.events = new Map();
      for (const batch of this.batches) {
        for (const [event, at, by] of batch.events) {
          if (!this.events.has(at)) this.events.set(at, []);
          this.events.get(at).push({ entry: batch, event, by: by ?? "" });
        }
      }
      for (const events of this.events.values()) events.sort((one, other) => one.entry.seq - other.entry.seq);
    }
    return this.events.get(rule) ?? [];
  }
}
