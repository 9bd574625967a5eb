// The page: its parts, what the reader does, and what follows from it.

const ENTRY_HEIGHT = 48;
const OPEN_FACETS = ["benchmark", "task", "model", "outcome"];
const KEYS = [
  ["/", "search"],
  ["j, ↓ / k, ↑", "next / previous answer"],
  ["Page Down / Page Up, Home / End", "further through the list"],
  ["Enter", "to the answer that is selected"],
  ["Escape", "back to the list; in the search: clear it"],
];

class Explorer {
  constructor(data) {
    this.data = data;
    this.texts = new Texts(data);
    this.selection = new Selection();
    this.hits = null;
    this.searched = "";
    this.entries = [];
    this.boxes = new Map();
    this._build();
    this._listen();
    this.read();
  }

  // ---- parts ----------------------------------------------------------------------------------

  _build() {
    const { data } = this;
    this.search = make("input", { type: "search", id: "search", autocomplete: "off", spellcheck: false });
    this.search.setAttribute("aria-describedby", "found");
    this.found = make("span", { id: "found" });
    this.found.setAttribute("role", "status");
    this.help = make("details", { id: "help" }, make("summary", {}, "Keys"), table(KEYS));
    const bar = make("form", { id: "bar" }, make("label", { htmlFor: "search" }, "Search all texts"), this.search, this.found);
    bar.setAttribute("role", "search");
    const head = make("header", {}, make("h1", {}, "Explorer"), make("p", { id: "note" }, data.note), bar, this.help);
    this.facetBox = make("nav", { id: "facets" }, make("h2", {}, "Filters"));
    this.facetBox.setAttribute("aria-label", "Filters");
    this.clear = make("button", { type: "button", id: "clear" }, "Clear all filters");
    this.facetBox.append(this.clear, ...data.facets.map((facet) => this._facet(facet)));
    this.compare = this._compareBox();
    this.status = make("p", { id: "status" });
    this.status.setAttribute("role", "status");
    this.warning = make("p", { id: "warning", hidden: true });
    this.warning.setAttribute("role", "alert");
    const box = make("div", { id: "list", tabIndex: 0 });
    box.setAttribute("role", "listbox");
    box.setAttribute("aria-label", "Answers");
    this.list = new List(box, ENTRY_HEIGHT, (node, index) => this._entry(node, index));
    const middle = make("section", { id: "answers" }, this.warning, this.compare, this.status, box);
    middle.setAttribute("aria-label", "List of answers");
    this.detail = make("section", { id: "detail", tabIndex: -1 });
    this.detail.setAttribute("aria-label", "Selected answer");
    const main = make("main", {}, middle, this.detail);
    const skip = make("a", { href: "#", className: "skip" }, "Skip to the list");
    skip.addEventListener("click", (event) => {
      event.preventDefault();
      box.focus();
    });
    document.getElementById("app").replaceChildren(skip, head, this.facetBox, main);
  }

  _facet({ name, label, values }) {
    const rows = values.map(([value, shown]) => {
      const box = make("input", { type: "checkbox" });
      const count = make("span", { className: "count" });
      box.addEventListener("change", () => {
        this.selection.choose(name, value, box.checked);
        this.update();
      });
      this.boxes.set(`${name}\n${value}`, { box, count });
      return make("label", {}, box, " ", inline(shown), " ", count);
    });
    const chosen = make("span", { className: "chosen" });
    this.boxes.set(name, { chosen });
    const group = make("div", { className: "values" }, ...rows);
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    const open = OPEN_FACETS.includes(name) && values.length > 1;
    return make("details", { className: "facet", open }, make("summary", {}, label, " ", chosen), group);
  }

  _compareBox() {
    const runs = this.data.runs();
    this.sides = {};
    const side = (name) => {
      const select = make("select", { id: `run-${name}` }, new Option("–", ""), ...runs.map(([value, label]) => new Option(label, value)));
      select.addEventListener("change", () => {
        this.selection[name] = select.value;
        this._changedPairs();
      });
      this.sides[name] = { run: select, settings: new Map() };
      const settings = this.data.settings.map((facet) => this._sideSetting(name, facet));
      return make("p", {}, make("label", { htmlFor: `run-${name}` }, name.toUpperCase()), " ", select, ...settings);
    };
    this.pairs = make("div", { id: "pairs" });
    this.pairs.setAttribute("role", "radiogroup");
    this.pairs.setAttribute("aria-label", "Pairs");
    const stop = make("button", { type: "button" }, "Stop comparing");
    stop.addEventListener("click", () => {
      Object.assign(this.selection, { a: "", b: "", sides: { a: new Map(), b: new Map() }, answer: "" });
      this.update();
    });
    this.stop = stop;
    return make("details", { id: "compare" }, make("summary", {}, "Compare two models"), side("a"), side("b"), this.pairs, stop);
  }

  _sideSetting(side, name) {
    const { label, values } = this.data.facet[name];
    const select = make("select", {}, new Option(`${label}: same`, ""), ...values.map(([value, shown]) => new Option(`${label}: ${shown}`, value)));
    select.setAttribute("aria-label", `${label} of ${side.toUpperCase()}`);
    select.addEventListener("change", () => {
      if (select.value) this.selection.sides[side].set(name, select.value);
      else this.selection.sides[side].delete(name);
      this._changedPairs();
    });
    this.sides[side].settings.set(name, select);
    return select;
  }

  _changedPairs() {
    this.selection.answer = "";
    this.update();
  }

  // ---- what the reader does -------------------------------------------------------------------

  _listen() {
    const { list, selection } = this;
    window.addEventListener("hashchange", () => {
      if (location.hash !== this.written) this.read();
    });
    this.clear.addEventListener("click", () => {
      this.selection.facets.clear();
      this.update();
    });
    let waiting = 0;
    this.search.addEventListener("input", () => {
      clearTimeout(waiting);
      waiting = setTimeout(() => this.find(this.search.value), 250);
    });
    document.getElementById("bar").addEventListener("submit", (event) => {
      event.preventDefault();
      clearTimeout(waiting);
      this.find(this.search.value);
    });
    list.box.addEventListener("click", (event) => {
      const entry = event.target.closest(".entry");
      if (entry) this.select(Number(entry.dataset.index));
    });
    document.addEventListener("keydown", (event) => this._key(event));
  }

  _key(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const writing = event.target.closest("input, select, textarea");
    const inList = event.target === this.list.box;
    if (event.key === "Escape") this._escape();
    else if (event.key === "/" && !writing) this.search.focus();
    else if (event.key === "Enter" && inList) this.detail.focus();
    else {
      const step = this._step(event.key, inList, writing);
      if (step === null) return;
      this.select(Math.min(this.entries.length - 1, Math.max(0, this.list.active + step)));
    }
    event.preventDefault();
  }

  /** How far a key moves through the list; null where it does not. */
  _step(key, inList, writing) {
    if (writing && writing.type !== "checkbox") return null;
    if (key === "j") return 1;
    if (key === "k") return -1;
    if (!inList) return null;
    const page = Math.max(1, Math.floor(this.list.box.clientHeight / ENTRY_HEIGHT) - 1);
    const steps = { ArrowDown: 1, ArrowUp: -1, PageDown: page, PageUp: -page, Home: -Infinity, End: Infinity };
    return steps[key] ?? null;
  }

  _escape() {
    if (document.activeElement === this.search && this.search.value) {
      this.search.value = "";
      this.find("");
    } else this.list.box.focus();
  }

  // ---- what follows ---------------------------------------------------------------------------

  /** Take over the address. */
  read() {
    this.selection = Selection.read(location.hash, this.data);
    this.search.value = this.selection.query;
    document.getElementById("compare").open = this.selection.comparing;
    for (const name of this.selection.facets.keys()) {
      this.boxes.get(name).chosen.closest("details").open = true;
    }
    this.written = location.hash;
    this.find(this.selection.query, true);
  }

  /** Search, then update; a search that another one overtakes ends without effect. */
  async find(query, again = false) {
    query = query.trim();
    if (query === this.searched && !again) return;
    this.searched = query;
    this.selection.query = query;
    if (!query) {
      this.hits = null;
      this.found.textContent = "";
      this.update();
      return;
    }
    this.searching = true;
    const hits = await this.texts.search(query, (done, all) => {
      if (this.searched === query) this.found.textContent = `searching ${Math.round((100 * done) / all)} %`;
      return this.searched === query;
    });
    if (hits === null || this.searched !== query) return;
    this.searching = false;
    this.hits = hits;
    const count = hits.reduce((sum, hit) => sum + hit, 0);
    this.found.textContent = `${count.toLocaleString("en")} found`;
    this.update();
  }

  /** Filter again and show everything that depends on the selection. */
  update() {
    const { data, selection } = this;
    if (selection.comparing) {
      const { pairs, alone } = pairRows(data, selection, this.hits);
      this.entries = pairs[selection.pair];
      this._showPairs(pairs, alone);
      this._showCounts(null);
    } else {
      const { rows, counts } = filterRows(data, selection, this.hits);
      this.entries = rows;
      this.pairs.replaceChildren();
      const [shown, all] = [rows.length, data.size].map((each) => each.toLocaleString("en"));
      this.status.textContent = `${shown} of ${all} answers`;
      this._showCounts(counts);
    }
    this._showSides();
    this._showWarning();
    this._write();
    const row = selection.answer ? data.find(selection.answer) : -1;
    this.list.show(this.entries.length, row < 0 ? -1 : this._indexOf(row));
    this.showDetail(row);
  }

  _indexOf(row) {
    if (this.selection.comparing) return this.entries.findIndex(([a]) => a === row);
    return this.entries.indexOf(row);
  }

  _write() {
    this.written = this.selection.write();
    if (location.hash !== this.written) history.replaceState(null, "", this.written);
    // A lone # reads as empty.
    this.written = location.hash;
  }

  select(index) {
    if (!(index in this.entries)) return;
    const entry = this.entries[index];
    const row = this.selection.comparing ? entry[0] : entry;
    this.selection.answer = this.data.name(row);
    this._write();
    this.list.active = index;
    this.list.reveal();
    this.list.draw();
    this.showDetail(row);
  }

  _showCounts(counts) {
    this.data.facets.forEach(({ name, values }, index) => {
      const chosen = this.selection.facets.get(name);
      this.boxes.get(name).chosen.textContent = chosen ? `(${chosen.size})` : "";
      const idle = counts === null && ANSWER_FACETS.includes(name);
      values.forEach(([value], place) => {
        const { box, count } = this.boxes.get(`${name}\n${value}`);
        box.checked = Boolean(chosen?.has(value));
        box.disabled = idle;
        count.textContent = counts ? counts[index][place + 1].toLocaleString("en") : "";
        // What would leave nothing is not offered.
        box.parentElement.hidden = counts !== null && !box.checked && counts[index][place + 1] === 0;
      });
      const group = this.boxes.get(name).chosen.closest("details");
      group.hidden = !group.querySelector("label:not([hidden])");
    });
  }

  _showSides() {
    for (const side of ["a", "b"]) {
      this.sides[side].run.value = this.selection[side];
      for (const [name, select] of this.sides[side].settings) {
        select.value = this.selection.sides[side].get(name) ?? "";
      }
    }
    this.stop.hidden = !this.selection.comparing;
  }

  _showPairs(pairs, alone) {
    const all = Object.values(pairs).reduce((sum, list) => sum + list.length, 0);
    const rest = alone ? `; ${alone.toLocaleString("en")} answers without a counterpart` : "";
    const shown = this.entries.length.toLocaleString("en");
    this.status.textContent = `${shown} of ${all.toLocaleString("en")} pairs${rest}. A and B replace the filters on model, mode, outcome and category.`;
    this.pairs.replaceChildren(
      ...Object.entries(PAIR_CLASSES).map(([name, label]) => {
        const radio = make("input", { type: "radio", name: "pair", value: name, checked: name === this.selection.pair });
        radio.addEventListener("change", () => {
          this.selection.pair = name;
          this._changedPairs();
          this.pairs.querySelector("input:checked").focus();
        });
        const count = make("b", { id: `pairs-${name}` }, pairs[name].length.toLocaleString("en"));
        return make("label", {}, radio, ` ${label}: `, count);
      }),
    );
  }

  _showWarning() {
    const { unknown } = this.selection;
    this.warning.hidden = unknown.length === 0;
    this.warning.textContent = unknown.length
      ? `This page does not have what the link asks for, and leaves it out: ${visible(unknown.join("; ")).slice(0, 500)}`
      : "";
  }

  /** One entry of the list: the item above, who answered what below. */
  _entry(node, index) {
    const { data, selection } = this;
    const entry = this.entries[index];
    const row = selection.comparing ? entry[0] : entry;
    const item = data.item[row];
    const language = data.items.language[item];
    const names = ["task", ...data.facets.map(({ name }) => name)];
    const left = ["benchmark", "outcome", "category", ...(selection.comparing ? ["model", "mode"] : [])];
    const shown = [...new Set(names)].filter((name) => !left.includes(name));
    const about = (each) => shown.map((name) => data.label(name, each)).filter(Boolean).join(" · ");
    const title = make("span", { className: "title" }, inline(data.items.title[item], language));
    const signs = (selection.comparing ? entry : [row]).map((each) => {
      const outcome = data.value("outcome", each);
      const sign = make("span", { className: `badge ${outcome}`, title: data.label("outcome", each) }, OUTCOME_SIGNS[outcome]);
      sign.setAttribute("role", "img");
      sign.setAttribute("aria-label", data.label("outcome", each));
      return sign;
    });
    const read = (each) => data.previews[data.preview[each]] || "–";
    const values = (selection.comparing ? entry : [row]).map(read).join(" / ");
    const below = make("span", { className: "below" }, make("span", { className: "about" }, about(row)), make("span", { className: "read" }, inline(values, language)));
    node.append(make("span", { className: "signs" }, ...signs), make("span", { className: "lines" }, title, below));
  }

  async showDetail(row) {
    this.shown = row;
    if (row < 0) {
      const text = this.entries.length ? "Select an answer." : "No answer has all of this.";
      this.detail.replaceChildren(make("p", { className: "empty" }, text));
      return;
    }
    const { data, texts, selection } = this;
    const pair = selection.comparing ? this.entries.find(([a]) => a === row) ?? [row] : [row];
    const [messages, ...answers] = await Promise.all([texts.messages(row), ...pair.map((each) => texts.answer(each))]);
    if (this.shown !== row) return;
    const sides = pair.map((each, place) => {
      const side = make("div", { className: "side answer" }, ...answerSections(data, each, answers[place]));
      if (pair.length > 1) side.prepend(make("p", { className: "ab" }, "AB"[place]));
      return side;
    });
    const question = make("div", { className: "side question" }, ...questionSections(data, row, messages));
    const grid = make("div", { className: `sides of-${pair.length + 1}` }, question, ...sides);
    this.detail.replaceChildren(make("h2", {}, inline(`${data.label("benchmark", row)} · ${data.label("task", row)}`)), grid, this._siblings(row));
    this.detail.dataset.answer = data.name(row);
    mark(this.detail, this.searched);
  }

  /** The other answers to the same item, as links. */
  _siblings(row) {
    const { data } = this;
    const others = data.siblings(row).filter((other) => other !== row);
    const box = make("details", { className: "siblings" }, make("summary", {}, `Other answers to this item (${others.length})`));
    box.addEventListener("toggle", () => {
      if (!box.open || box.children.length > 1) return;
      box.append(
        make("ul", {}, ...others.map((other) => {
          const outcome = data.value("outcome", other);
          const target = new Selection();
          target.answer = data.name(other);
          const names = ["model", "mode", ...data.settings].map((name) => data.label(name, other)).filter(Boolean);
          const link = make("a", { href: target.write() }, visible(names.join(", ")));
          return make("li", {}, make("span", { className: `badge ${outcome}` }, OUTCOME_SIGNS[outcome]), " ", link, " ", inline(data.previews[data.preview[other]] || "–"));
        })),
      );
    });
    return box;
  }
}

async function start() {
  const app = document.getElementById("app");
  try {
    if (!globalThis.DecompressionStream) {
      throw new Error("this browser cannot unpack the page's data; use one of 2023 or later");
    }
    globalThis.explorer = new Explorer(new Data(await unpack("index")));
  } catch (error) {
    app.replaceChildren(make("p", { id: "failure" }, `The explorer could not start: ${error.message}`));
    throw error;
  }
}

start();
