// What the reader sees. Every text of a model or document becomes a text node, never markup.

// A long text comes in parts: a browser is slow to lay out millions of characters at once.
const SHOWN_CHARACTERS = 20000;
const MORE_CHARACTERS = 50000;
// Control, format, private and unassigned characters, lone surrogates and odd line ends are shown as
// code points; not those that shape a script (joiners) or mark a direction without hiding anything.
const HIDDEN = /(?![\n\t\u200c\u200d\u200e\u200f\u061c])[\p{Cc}\p{Cf}\p{Cs}\p{Co}\p{Cn}\p{Zl}\p{Zp}]/gu;
const SCRIPTS = [
  ["ar", /\p{Script=Arabic}/gu],
  ["bn", /\p{Script=Bengali}/gu],
  ["zh", /\p{Script=Han}/gu],
];

/** An element with properties and children (nodes or texts). */
function make(tag, properties = {}, ...children) {
  const out = document.createElement(tag);
  for (const [name, value] of Object.entries(properties)) {
    if (name in out && name !== "list") out[name] = value;
    else out.setAttribute(name, value);
  }
  out.append(...children);
  return out;
}

function codePoint(character) {
  return `<U+${character.codePointAt(0).toString(16).toUpperCase().padStart(4, "0")}>`;
}

function visible(text) {
  return text.replace(/\r\n/g, "\n").replace(HIDDEN, codePoint);
}

/** The language of a text: of the script of most letters, else its item's if that is in Latin. */
function languageOf(text, language) {
  const head = text.slice(0, 2000);
  const latinOnly = /^[\u0000-\u024f]*$/.test(head);
  if (latinOnly) return ["ar", "bn", "zh"].includes(language) ? "en" : language || "en";
  const count = (pattern) => (head.match(pattern) ?? []).length;
  const latin = count(/\p{Script=Latin}/gu);
  for (const [code, script] of SCRIPTS) if (count(script) > latin) return code;
  return ["ar", "bn", "zh"].includes(language) ? "en" : language || "en";
}

function setDirection(node, text, language) {
  node.dir = "auto";
  node.lang = languageOf(text, language);
  return node;
}

/** Where a part of a text ends that is to end here: not inside a character or a line end. */
function partEnd(text, at) {
  return /^(?:[\ud800-\udbff][\udc00-\udfff]|\r\n)$/.test(text.slice(at - 1, at + 1)) ? at + 1 : at;
}

/** A block of foreign text; a long one has a button for its next part. */
function textBlock(text, language, label) {
  if (text === "") return make("p", { className: "empty", textContent: "(empty)" });
  const block = make("pre", { className: "text", tabIndex: 0 });
  block.setAttribute("role", "region");
  block.setAttribute("aria-label", label);
  setDirection(block, text, language);
  let shown = partEnd(text, SHOWN_CHARACTERS);
  block.append(visible(text.slice(0, shown)));
  if (shown >= text.length) return block;
  const more = make("button", { type: "button" });
  const say = () => {
    const [part, all] = [shown, text.length].map((count) => count.toLocaleString("en"));
    more.textContent = `${part} of ${all} characters; show more`;
  };
  say();
  more.addEventListener("click", () => {
    const end = partEnd(text, shown + MORE_CHARACTERS);
    block.append(visible(text.slice(shown, end)));
    shown = end;
    if (shown < text.length) say();
    else {
      more.remove();
      block.focus();
    }
  });
  return make("div", {}, block, more);
}

function inline(text, language) {
  return setDirection(make("span", { className: "inline" }, visible(text)), text, language);
}

function words(value) {
  if (value === true) return "yes";
  if (value === false) return "no";
  if (typeof value === "number" && !Number.isInteger(value)) return String(Number(value.toFixed(4)));
  return typeof value === "object" ? JSON.stringify(value) : String(value);
}

function table(entries) {
  const body = make("tbody");
  for (const [name, value] of entries) {
    const head = make("th", { scope: "row" }, visible(name));
    body.append(make("tr", {}, head, make("td", {}, value instanceof Node ? value : inline(words(value)))));
  }
  return make("table", { className: "pairs" }, body);
}

function section(title, ...content) {
  return make("section", {}, make("h3", {}, title), ...content);
}

/** Entries of equal height of which only those in sight have elements. */
class List {
  constructor(box, height, fill) {
    this.box = box;
    this.height = height;
    this.fill = fill;
    this.size = 0;
    this.active = -1;
    this.inner = make("div", { className: "inner", role: "presentation" });
    this.inner.setAttribute("role", "presentation");
    box.append(this.inner);
    box.addEventListener("scroll", () => this.draw(), { passive: true });
    new ResizeObserver(() => this.draw()).observe(box);
  }

  show(size, active) {
    this.size = size;
    this.active = active;
    this.inner.style.height = `${size * this.height}px`;
    this.reveal();
    this.draw();
  }

  reveal() {
    if (this.active < 0) {
      this.box.scrollTop = 0;
      return;
    }
    const top = this.active * this.height;
    const room = this.box.clientHeight;
    if (top < this.box.scrollTop) this.box.scrollTop = top;
    else if (top + this.height > this.box.scrollTop + room) this.box.scrollTop = top + this.height - room;
  }

  draw() {
    const first = Math.max(0, Math.floor(this.box.scrollTop / this.height) - 4);
    const last = Math.min(this.size, Math.ceil((this.box.scrollTop + this.box.clientHeight) / this.height) + 4);
    const nodes = [];
    for (let index = first; index < last; index++) {
      const node = make("div", { className: "entry", id: `entry-${index}` });
      node.setAttribute("role", "option");
      node.setAttribute("aria-selected", String(index === this.active));
      node.setAttribute("aria-setsize", String(this.size));
      node.setAttribute("aria-posinset", String(index + 1));
      node.style.transform = `translateY(${index * this.height}px)`;
      node.dataset.index = String(index);
      this.fill(node, index);
      nodes.push(node);
    }
    this.inner.replaceChildren(...nodes);
    if (this.active >= 0) this.box.setAttribute("aria-activedescendant", `entry-${this.active}`);
    else this.box.removeAttribute("aria-activedescendant");
  }
}

/** What belongs to one answer, without what it shares with others. */
function answerSections(data, row, answer) {
  const language = data.items.language[data.item[row]];
  const outcome = data.value("outcome", row);
  const badge = make("span", { className: `badge ${outcome}` }, `${OUTCOME_SIGNS[outcome]} ${data.label("outcome", row)}`);
  const who = `${data.label("model", row)}, ${data.label("mode", row)}`;
  const out = [make("h3", { className: "who" }, inline(who), " ", badge)];
  if (answer.error !== null) out.push(section("Error", textBlock(answer.error, "en", "Error")));
  out.push(section("Raw output", textBlock(answer.text, language, "Raw output")));
  if (answer.reasoning !== null) {
    const block = textBlock(answer.reasoning, language, "Reasoning");
    out.push(make("details", { open: answer.reasoning.length < 2000 }, make("summary", {}, "Reasoning"), block));
  }
  const parsed = answer.parsed === null ? make("em", {}, "nothing was read") : inline(answer.parsed, language);
  const parse = [["read as", parsed], ["gold", inline(data.items.gold[data.item[row]], language)]];
  if (answer.route) parse.push(["route", answer.route]);
  parse.push(["category", data.label("category", row)], ["ended by", answer.finish]);
  out.push(section("Parse and score", table([...parse, ...Object.entries(answer.details)])));
  if (answer.votes.length) out.push(section("Judges", ...answer.votes.map((vote) => voteBlock(vote, language))));
  return out;
}

function voteBlock(vote, language) {
  const parts = [make("p", {}, make("b", {}, visible(vote.judge)), ": ", visible(vote.vote))];
  const details = Object.entries(vote.details);
  if (details.length) parts.push(table(details));
  if (vote.raw) {
    const raw = textBlock(vote.raw, language, `What ${visible(vote.judge)} read or wrote`);
    parts.push(make("details", {}, make("summary", {}, "What the vote was read from"), raw));
  }
  return make("div", { className: "vote" }, ...parts);
}

/** The prompt and the gold answer of a row. */
function questionSections(data, row, messages) {
  const item = data.item[row];
  const language = data.items.language[item];
  const shown = messages.map(([role, content]) =>
    make("div", { className: "message" }, make("h4", {}, visible(role)), textBlock(content, language, `Prompt, ${visible(role)}`)),
  );
  const facts = data.facets
    .filter(({ name }) => !["model", "mode", "outcome", "category"].includes(name) && data.column[name][row])
    .map(({ name, label }) => [label, data.label(name, row)]);
  facts.push(["item", data.items.id[item]], ["request", data.prompts.id[data.prompt[row]]]);
  return [
    section("Prompt", ...shown),
    section("Gold answer", textBlock(data.items.gold[item], language, "Gold answer"), table(Object.entries(data.items.details[item]))),
    section("Where it belongs", table(facts)),
  ];
}

/** Mark where the searched words stand, where the browser can. */
function mark(box, query) {
  if (!globalThis.Highlight || !CSS.highlights) return;
  CSS.highlights.delete("found");
  const wanted = folded(query);
  if (!wanted) return;
  const ranges = [];
  for (const block of box.querySelectorAll("pre.text, .inline")) {
    const node = block.firstChild;
    const text = node ? folded(node.data) : "";
    if (!node || text.length !== node.data.length) continue;
    for (let at = text.indexOf(wanted); at >= 0 && ranges.length < 500; at = text.indexOf(wanted, at + wanted.length)) {
      const range = new Range();
      range.setStart(node, at);
      range.setEnd(node, at + wanted.length);
      ranges.push(range);
    }
  }
  CSS.highlights.set("found", new Highlight(...ranges));
}
