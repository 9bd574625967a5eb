// Texts: unpacked chunk by chunk; the last ones used stay unpacked. Full-text search goes through all.

const KEPT_CHUNKS = 24;

/** Folded for comparison: composed, lower case. */
function folded(text) {
  return text.normalize("NFC").toLowerCase();
}

class Texts {
  constructor(data) {
    this.data = data;
    this.cache = new Map();
    // Folded texts of chunks that were searched, so that the next search does not unpack them.
    this.searchable = new Map();
  }

  /** The chunk of a kind ("text" or "answer"). */
  async chunk(kind, number) {
    const id = `${kind}-${number}`;
    const found = this.cache.get(id) ?? unpack(id);
    this.cache.delete(id);
    this.cache.set(id, found);
    if (this.cache.size > KEPT_CHUNKS) this.cache.delete(this.cache.keys().next().value);
    return found;
  }

  /** An entry by its number: `starts` has the first of every chunk. */
  async entry(kind, starts, number) {
    let low = 0;
    let high = starts.length - 1;
    while (high - low > 1) {
      const middle = (low + high) >> 1;
      if (starts[middle] <= number) low = middle;
      else high = middle;
    }
    return (await this.chunk(kind, low))[number - starts[low]];
  }

  /** Everything that is shown of an answer. */
  async answer(row) {
    const entry = await this.entry("answer", this.data.chunks, row);
    const [text, reasoning, parsed, route, error, finish, votes, details] = entry;
    return { text, reasoning, parsed, route, error, finish, votes, details };
  }

  /** The messages of the prompt of a row: [role, content]. */
  async messages(row) {
    const messages = this.data.prompts.messages[this.data.prompt[row]];
    return Promise.all(
      messages.map(async ([role, number]) => [role, await this.entry("text", this.data.texts, number)]),
    );
  }

  /**
   * Which rows have the words anywhere: in prompt, reply, reasoning, parsed value, votes, gold or
   * title. `going(done, all)` says how far it got and returns false to stop; then the result is null.
   */
  async search(query, going) {
    const { data } = this;
    const wanted = folded(query);
    const found = { text: new Uint8Array(data.texts.at(-1)), answer: new Uint8Array(data.size) };
    const all = data.texts.length + data.chunks.length - 2;
    let done = 0;
    for (const [kind, starts] of [["text", data.texts], ["answer", data.chunks]]) {
      for (let number = 0; number + 1 < starts.length; number++) {
        (await this._folded(kind, number)).forEach((text, place) => {
          if (text.includes(wanted)) found[kind][starts[number] + place] = 1;
        });
        if (!going(++done, all)) return null;
      }
    }
    const ofPrompt = data.prompts.messages.map((each) => each.some(([, text]) => found.text[text]));
    const ofItem = data.items.id.map((id, item) =>
      [id, data.items.title[item], data.items.gold[item]].some((text) => folded(text).includes(wanted)),
    );
    for (let row = 0; row < data.size; row++) {
      if (ofPrompt[data.prompt[row]] || ofItem[data.item[row]]) found.answer[row] = 1;
    }
    return found.answer;
  }

  async _folded(kind, number) {
    const id = `${kind}-${number}`;
    if (!this.searchable.has(id)) {
      const entries = await unpack(id);
      this.searchable.set(id, entries.map((entry) => folded(strings(written(entry)).join("\n"))));
    }
    return this.searchable.get(id);
  }
}

/** What somebody wrote of an entry: of an answer not the route, how it ended, and its details. */
function written(entry) {
  if (typeof entry === "string") return entry;
  const [text, reasoning, parsed, , error, , votes] = entry;
  return [text, reasoning, parsed, error, votes];
}

/** All texts inside a value. */
function strings(value) {
  if (typeof value === "string") return [value];
  if (value === null || typeof value !== "object") return [];
  return Object.values(value).flatMap(strings);
}
