"use strict";
// The answers stand on several pages: lead a link to the right one, or list them.

async function unpack(id) {
  const binary = atob(document.getElementById(id).textContent);
  const bytes = Uint8Array.from(binary, (character) => character.charCodeAt(0));
  const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("gzip"));
  return JSON.parse(await new Response(stream).text());
}

/** The pages that have what an address asks for: by benchmark and task. */
function pagesFor(pages, hash) {
  const asked = new URLSearchParams(hash.replace(/^#/, ""));
  const [benchmark, task] = (asked.get("answer") ?? "|").split("|");
  const wanted = [benchmark ? [benchmark] : asked.getAll("benchmark"), task ? [task] : asked.getAll("task")];
  return pages.filter(({ of }) => of.every((name, place) => !wanted[place].length || wanted[place].includes(name)));
}

function line(page) {
  const link = document.createElement("a");
  link.href = page.file + location.hash;
  link.textContent = page.of.join(", ");
  const size = document.createElement("span");
  size.textContent = ` – ${page.answers.toLocaleString("en")} answers, ${(page.bytes / 1e6).toFixed(1)} MB`;
  const item = document.createElement("li");
  item.append(link, size);
  return item;
}

async function start() {
  const { note, items, answers, pages } = await unpack("index");
  const show = () => {
    const found = pagesFor(pages, location.hash);
    if (location.hash.length > 1 && found.length === 1) {
      location.replace(found[0].file + location.hash);
      return;
    }
    const title = document.createElement("h1");
    title.textContent = "Explorer";
    const text = document.createElement("p");
    text.textContent = `${note}. ${answers.toLocaleString("en")} answers to ${items.toLocaleString("en")} items, on ${pages.length} pages:`;
    const list = document.createElement("ul");
    list.append(...(found.length ? found : pages).map(line));
    const main = document.createElement("main");
    main.className = "signpost";
    main.append(title, text, list);
    document.getElementById("app").replaceChildren(main);
  };
  window.addEventListener("hashchange", show);
  show();
}

start();
