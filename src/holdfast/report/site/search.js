// Searching all rules, a million of them in some milliseconds.
//
// The index lists the columns of every rule in one long array, left sides marked apart from right sides, and numbers what else
// stands in a rule: the few *shapes* that are left of the texts without their columns (with the rule's name, where it
// has one). A search turns its words into bits, marks for each column and each shape which words it has, and takes one
// pass. The index is built in slices after the page is shown; a search that comes earlier completes it.
"use strict";

const RIGHT = 0x2000; // added to a column on the right side of a rule
const PAGE = 60; // rules that are shown at once: some screens full
const SLICE = 20000;

const [SPACE, COMMA, DASH, GREATER, LETTER_I, LETTER_O] = [32, 44, 45, 62, 105, 111];

class RuleIndex {
  constructor(doc) {
    this.doc = doc;
    this.done = 0; // so many rules are in it
    this.columns = new Uint16Array(1 << 16);
    this.ends = null; // by rule, where its columns end
    this.shapes = [", ->"]; // what is left of a text without its columns, in small letters
    this.shapeAt = new Map();
    this.shapeOf = null;
  }

  /** Build it while nothing else happens. */
  buildLater() {
    const step = () => {
      this.build(this.done + SLICE);
      if (this.done < this.doc.count) setTimeout(step);
    };
    setTimeout(step, 50);
  }

  /** Take in the rules up to one. */
  build(upTo) {
    const { doc } = this;
    this.ends ??= new Int32Array(doc.count);
    this.shapeOf ??= new Int32Array(doc.count);
    const last = Math.min(upTo, doc.count);
    doc.knowLines(last);
    let filled = this.done ? this.ends[this.done - 1] : 0;
    for (; this.done < last; this.done++) filled = this.takeIn(this.done, filled);
  }

  takeIn(rule, filled) {
    const { texts } = this.doc.rules;
    const [start, end] = [this.doc.starts[rule], this.doc.starts[rule + 1] - 1];
    if (filled + end - start > this.columns.length) this.grow(end - start);
    let right = 0;
    let plain = this.doc.details[rule]?.name === undefined;
    for (let at = start; at < end; at++) {
      const code = texts.charCodeAt(at);
      if (code >= FIRST_COLUMN && code <= LAST_COLUMN) this.columns[filled++] = (code - FIRST_COLUMN) | right;
      else if (code === GREATER) right = texts.charCodeAt(at - 1) === DASH ? RIGHT : right;
      else if (code === SPACE) right = turns(texts, at) ? RIGHT : right;
      else if (code !== COMMA && code !== DASH) plain = false;
    }
    if (!plain) this.shapeOf[rule] = this.shape(rule, texts.slice(start, end));
    this.ends[rule] = filled;
    return filled;
  }

  grow(least) {
    const larger = new Uint16Array(2 * this.columns.length + least);
    larger.set(this.columns);
    this.columns = larger;
  }

  shape(rule, line) {
    const text = `${line.replace(COLUMN_CHARACTERS, "")} ${this.doc.details[rule]?.name ?? ""}`.toLowerCase();
    let at = this.shapeAt.get(text);
    if (at === undefined) {
      at = this.shapes.push(text) - 1;
      this.shapeAt.set(text, at);
    }
    return at;
  }

  /**
   * The rules that a query finds: `{count, rules}`, the first `most` of them, or with `best` those with the best
   * scores.
   *
   * A query has `words`, `left` and `right` (lists of small letters), `kinds` (null: all), `column` and `side`, `state`
   * and `score`, the least.
   */
  search(query, most = PAGE, best = false) {
    this.build(this.doc.count);
    const marks = new WordBits(this.doc, this.shapes, query);
    const { scores, states } = this.doc.rules;
    const { columns, ends, shapeOf } = this;
    const { all, ofColumn, ofShape } = marks;
    const wanted = query.state ? STATES.indexOf(query.state) : -1;
    const least = query.score || -1;
    const hits = best ? new Best(scores, most) : new First(most);
    for (const { kind, first, count } of this.doc.rules.sections) {
      if (query.kinds && !query.kinds.includes(kind)) continue;
      let at = first ? ends[first - 1] : 0;
      for (let rule = first; rule < first + count; rule++) {
        const end = ends[rule];
        if ((wanted < 0 || states[rule] === wanted) && scores[rule] >= least) {
          let has = ofShape[shapeOf[rule]];
          for (let place = at; place < end; place++) has |= ofColumn[columns[place]];
          if (has === all) hits.add(rule);
        }
        at = end;
      }
    }
    return { count: hits.count, rules: hits.rules };
  }
}

/** Whether a right side starts behind a space: that of `a in b`, or of `[a] orders [b]`. */
function turns(texts, at) {
  const next = texts.charCodeAt(at + 1);
  return (
    (next === LETTER_I && texts.startsWith("in ", at + 1)) || (next === LETTER_O && texts.startsWith("orders ", at + 1))
  );
}

/** Which words of a query each column and each shape has, a bit a word. */
class WordBits {
  constructor(doc, shapes, query) {
    this.ofColumn = new Int32Array(2 * RIGHT);
    this.ofShape = new Int32Array(shapes.length);
    this.all = 0;
    const names = doc.columns.map((column, at) => [column.name.toLowerCase(), doc.columnId(at).toLowerCase()]);
    for (const [words, sides] of [
      [query.words, [0, RIGHT]],
      [query.left, [0]],
      [query.right, [RIGHT]],
    ]) {
      for (const word of words ?? []) this.takeWord(word, names, shapes, sides);
    }
    if (query.column !== null && query.column !== undefined) {
      const bit = this.nextBit();
      if (query.side !== "right") this.ofColumn[query.column] |= bit;
      if (query.side !== "left") this.ofColumn[query.column | RIGHT] |= bit;
    }
  }

  nextBit() {
    const bit = this.all + 1; // bits are taken from the lowest on
    this.all |= bit;
    return bit;
  }

  takeWord(word, names, shapes, sides) {
    const bit = this.nextBit();
    const full = word.includes(".");
    names.forEach(([name, withTable], at) => {
      if (at >= RIGHT || !(name.includes(word) || (full && withTable.includes(word)))) return;
      for (const side of sides) this.ofColumn[at | side] |= bit;
    });
    shapes.forEach((shape, at) => {
      const [left, ...right] = shape.split("->");
      const seen = sides.length === 2 ? shape : sides[0] ? right.join("->") : left;
      if (seen.includes(word)) this.ofShape[at] |= bit;
    });
  }
}

/** Counts all hits, and keeps the first. */
class First {
  constructor(most) {
    this.most = most;
    this.count = 0;
    this.rules = [];
  }

  add(rule) {
    if (this.count++ < this.most) this.rules.push(rule);
  }
}

/** Counts all hits, and keeps those with the best scores, the best first. */
class Best {
  constructor(scores, most) {
    Object.assign(this, { scores, most, count: 0, rules: [] });
  }

  add(rule) {
    this.count++;
    const { rules, scores } = this;
    let place = rules.length;
    if (place === this.most && scores[rule] <= scores[rules[place - 1]]) return;
    while (place && scores[rule] > scores[rules[place - 1]]) place--;
    rules.splice(place, 0, rule);
    if (rules.length > this.most) rules.pop();
  }
}

/** The words of a query; `a -> b` asks for a on the left of the arrow, and for b on the right. */
function wordsOf(text) {
  const [left, ...right] = text.toLowerCase().split("->");
  if (!right.length) return { words: split(left) };
  return { left: split(left), right: split(right.join(" ")) };
}

/** Words as they stand between spaces and commas, or between quotes; thirty, as each has a bit. */
function split(text) {
  const found = text.match(/"[^"]*"|[^\s,(){}[\]:"]+/g) ?? [];
  const words = found.map((word) => word.replace(/^"(.*)"$/, "$1").replace(/^[ts]\./, ""));
  return words.filter(Boolean).slice(0, 15);
}
