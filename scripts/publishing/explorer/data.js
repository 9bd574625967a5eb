"use strict";
// The data of the page: the index is unpacked at once, chunks of texts when they are needed.

/** Bytes of the base64 text of an element. */
function bytesOf(id) {
  const text = document.getElementById(id).textContent;
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let i = 0; i < binary.length; i++) bytes[i] = binary.charCodeAt(i);
  return bytes;
}

/** The JSON value of a packed block. */
async function unpack(id) {
  const packed = new Blob([bytesOf(id)]).stream();
  const text = await new Response(packed.pipeThrough(new DecompressionStream("gzip"))).text();
  return JSON.parse(text);
}

const OUTCOME_SIGNS = { right: "✓", wrong: "✗", invalid: "∅", unscored: "?" };

/** Rows as typed columns. Code 0 of a facet stands for "does not have it". */
class Data {
  constructor(index) {
    Object.assign(this, index);
    this.size = index.answers.item.length;
    this.item = Uint32Array.from(index.answers.item);
    this.prompt = Uint32Array.from(index.answers.prompt);
    this.preview = Uint32Array.from(index.answers.preview);
    // Without a prototype: an address may ask for "constructor".
    this.column = Object.create(null);
    this.code = Object.create(null);
    this.facet = Object.create(null);
    for (const facet of index.facets) {
      this.facet[facet.name] = facet;
      this.code[facet.name] = new Map(facet.values.map(([value], place) => [value, place + 1]));
      this.column[facet.name] = this._column(facet.name);
    }
    // What is asked about an item in several ways: facets of prompts.
    this.settings = Object.keys(index.prompts.facets);
    this.correct = this._correct();
    this._rows = null;
  }

  _column(name) {
    const out = new Uint16Array(this.size);
    const own = this.answers.facets[name];
    const ofItem = this.items.facets[name];
    const ofPrompt = this.prompts.facets[name];
    for (let row = 0; row < this.size; row++) {
      out[row] = own
        ? own[row]
        : (ofItem && ofItem[this.item[row]]) || (ofPrompt && ofPrompt[this.prompt[row]]) || 0;
    }
    return out;
  }

  /** 1 right, 0 wrong, -1 unscored. */
  _correct() {
    const of = [-1, ...this.facet.outcome.values.map(([value]) => this._point(value))];
    return Int8Array.from(this.column.outcome, (code) => of[code]);
  }

  _point(outcome) {
    return { right: 1, wrong: 0, invalid: 0, unscored: -1 }[outcome];
  }

  /** The value of a facet in a row, null where the row does not have it. */
  value(name, row) {
    const code = this.column[name][row];
    return code ? this.facet[name].values[code - 1][0] : null;
  }

  /** The same as the reader sees it. */
  label(name, row) {
    const code = this.column[name][row];
    return code ? this.facet[name].values[code - 1][1] : "";
  }

  /** What names a row in a link: it stays when the page is built anew. */
  name(row) {
    const names = [this.value("benchmark", row), this.value("task", row)];
    names.push(this.prompts.id[this.prompt[row]], this.value("model", row), this.value("mode", row));
    return names.join("|");
  }

  /** The row of a name, -1 where there is none. */
  find(name) {
    if (!this._rows) {
      this._rows = new Map();
      for (let row = 0; row < this.size; row++) this._rows.set(this.name(row), row);
    }
    return this._rows.get(name) ?? -1;
  }

  /** All answers to the item of a row. */
  siblings(row) {
    const out = [];
    for (let other = 0; other < this.size; other++) {
      if (this.item[other] === this.item[row]) out.push(other);
    }
    return out;
  }

  /** The runs that answered anything: [value, label]. */
  runs() {
    const found = new Map();
    for (let row = 0; row < this.size; row++) {
      const value = `${this.value("model", row)}|${this.value("mode", row)}`;
      if (!found.has(value)) found.set(value, `${this.label("model", row)}, ${this.label("mode", row)}`);
    }
    return [...found].sort((a, b) => (a[1] < b[1] ? -1 : 1));
  }
}
