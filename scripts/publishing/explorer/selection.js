// What the reader chose, as the part of the address behind the #; which rows and pairs that leaves.

const PAIR_CLASSES = {
  only_a: "A right, B wrong",
  only_b: "A wrong, B right",
  both_right: "both right",
  both_wrong: "both wrong",
  unscored: "A or B unscored",
};
const ANSWER_FACETS = ["model", "mode", "outcome", "category"];

/** `facets`: name to the chosen values; `a`, `b`: runs that are compared; `sides`: their settings. */
class Selection {
  constructor() {
    this.facets = new Map();
    this.query = "";
    this.answer = "";
    this.a = "";
    this.b = "";
    this.sides = { a: new Map(), b: new Map() };
    this.pair = "only_a";
    this.unknown = [];
  }

  get comparing() {
    return this.a !== "" && this.b !== "";
  }

  /** Read an address; what the page does not have is kept in `unknown` and filters nothing. */
  static read(hash, data) {
    const out = new Selection();
    let pairs = [];
    try {
      pairs = [...new URLSearchParams(hash.replace(/^#/, ""))];
    } catch {
      out.unknown.push(hash);
    }
    for (const [key, value] of pairs) out._take(key, value, data);
    return out;
  }

  _take(key, value, data) {
    const side = /^([ab])\.(.+)$/.exec(key);
    if (key === "q") this.query = value;
    else if (key === "answer" && data.find(value) >= 0) this.answer = value;
    else if (key === "pair" && Object.hasOwn(PAIR_CLASSES, value)) this.pair = value;
    else if ((key === "a" || key === "b") && this._isRun(value, data)) this[key] = value;
    else if (side && data.settings.includes(side[2]) && data.code[side[2]].has(value)) {
      this.sides[side[1]].set(side[2], value);
    } else if (data.code[key] && data.code[key].has(value)) {
      this.choose(key, value, true);
    } else {
      this.unknown.push(`${key} = ${value}`);
    }
  }

  _isRun(value, data) {
    return data.runs().some(([run]) => run === value);
  }

  choose(name, value, on) {
    const values = this.facets.get(name) ?? new Set();
    if (on) values.add(value);
    else values.delete(value);
    if (values.size) this.facets.set(name, values);
    else this.facets.delete(name);
  }

  write() {
    const out = new URLSearchParams();
    for (const [name, values] of this.facets) for (const value of values) out.append(name, value);
    if (this.query) out.append("q", this.query);
    for (const side of ["a", "b"]) {
      if (this[side]) out.append(side, this[side]);
      for (const [name, value] of this.sides[side]) out.append(`${side}.${name}`, value);
    }
    if (this.comparing) out.append("pair", this.pair);
    if (this.answer) out.append("answer", this.answer);
    const text = out.toString();
    return text ? `#${text}` : "#";
  }
}

/** The chosen facets as columns with the codes that pass. */
function conditions(data, selection, without = []) {
  const out = [];
  for (const [name, values] of selection.facets) {
    if (without.includes(name)) continue;
    const allowed = new Uint8Array(data.facet[name].values.length + 1);
    for (const value of values) allowed[data.code[name].get(value)] = 1;
    out.push({ name, column: data.column[name], allowed });
  }
  return out;
}

/**
 * The rows that pass, and for every facet how many rows each of its values has or would have: those
 * that pass all other conditions. `hits`: 1 for rows that a search found, or null.
 */
function filterRows(data, selection, hits) {
  const active = conditions(data, selection);
  const columns = data.facets.map(({ name }) => data.column[name]);
  const counts = data.facets.map(({ values }) => new Uint32Array(values.length + 1));
  const place = new Map(data.facets.map(({ name }, index) => [name, index]));
  const rows = new Uint32Array(data.size);
  let size = 0;
  for (let row = 0; row < data.size; row++) {
    if (hits && !hits[row]) continue;
    let failed = null;
    let failures = 0;
    for (const condition of active) {
      if (!condition.allowed[condition.column[row]]) {
        failed = condition;
        if (++failures > 1) break;
      }
    }
    if (failures === 0) {
      rows[size++] = row;
      for (let f = 0; f < columns.length; f++) counts[f][columns[f][row]]++;
    } else if (failures === 1) {
      counts[place.get(failed.name)][failed.column[row]]++;
    }
  }
  return { rows: rows.subarray(0, size), counts };
}

/**
 * Answers of two runs to the same item in the same setting, by class. A wrong answer without a valid
 * reply is wrong, as in McNemar's test: `only_a` is the b01 of the statistics, `only_b` the b10.
 */
function pairRows(data, selection, hits) {
  const own = new Set([...selection.sides.a.keys(), ...selection.sides.b.keys()]);
  const active = conditions(data, selection, [...ANSWER_FACETS, ...own]);
  const settings = data.settings.filter((name) => !own.has(name));
  const passes = (row) => active.every(({ column, allowed }) => allowed[column[row]]);
  const key = (row) => {
    let out = data.item[row];
    for (const name of settings) {
      out = out * (data.facet[name].values.length + 1) + data.column[name][row];
    }
    return out;
  };
  const ofB = new Map();
  for (const row of sideRows(data, selection, "b")) if (passes(row)) ofB.set(key(row), row);
  const pairs = Object.fromEntries(Object.keys(PAIR_CLASSES).map((name) => [name, []]));
  let alone = 0;
  for (const row of sideRows(data, selection, "a")) {
    if (!passes(row)) continue;
    const other = ofB.get(key(row));
    if (other === undefined) alone++;
    else {
      ofB.delete(key(row));
      if (!hits || hits[row] || hits[other]) pairs[pairClass(data, row, other)].push([row, other]);
    }
  }
  return { pairs, alone: alone + ofB.size };
}

function pairClass(data, a, b) {
  const [right, other] = [data.correct[a], data.correct[b]];
  if (right < 0 || other < 0) return "unscored";
  if (right === other) return right ? "both_right" : "both_wrong";
  return right ? "only_a" : "only_b";
}

function* sideRows(data, selection, side) {
  const cut = selection[side].lastIndexOf("|");
  const wanted = [
    ["model", selection[side].slice(0, cut)],
    ["mode", selection[side].slice(cut + 1)],
    ...selection.sides[side],
  ].map(([name, value]) => [data.column[name], data.code[name].get(value)]);
  for (let row = 0; row < data.size; row++) {
    if (wanted.every(([column, code]) => column[row] === code)) yield row;
  }
}
