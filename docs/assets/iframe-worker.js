// A page that was opened from the disk may not start a worker, and the search runs in one. There, a
// hidden frame of the same origin takes its place; a page from a server keeps the browser's own.
if (location.protocol === "file:") {
  window.Worker = class extends EventTarget {
    constructor(address) {
      super();
      this.frame = document.createElement("iframe");
      this.frame.hidden = true;
      document.body.append(this.frame);
      const inside = this.frame.contentWindow;
      inside.document.open();
      inside.document.write("<!doctype html><html><head></head><body></body></html>");
      inside.document.close();
      inside.postMessage = (data) =>
        this.dispatchEvent(new MessageEvent("message", { data }));
      const load = (source) =>
        new Promise((resolve, reject) => {
          const script = inside.document.createElement("script");
          script.src = source;
          script.onload = resolve;
          script.onerror = () => reject(new Error(source));
          inside.document.body.append(script);
        });
      inside.importScripts = (...sources) =>
        sources.reduce((done, source) => done.then(() => load(source)), Promise.resolve());
      this.ready = load(new URL(address, document.baseURI).href);
    }

    postMessage(data) {
      const inside = this.frame.contentWindow;
      this.ready.then(() => inside.dispatchEvent(new MessageEvent("message", { data })));
    }

    terminate() {
      this.frame.remove();
    }
  };
}
