// Pages of results are shown as documents in their own folder, so that their links lead to the files
// beside the report. As the data: addresses that Snakemake gives them they would lead nowhere. They
// may open windows and run no script.
{
  const folder = "{{folder}}";
  const shown = ContentDisplay.prototype.renderContent;

  const decode = (address) => {
    const binary = atob(address.slice(address.indexOf("base64,") + "base64,".length));
    return new TextDecoder().decode(Uint8Array.from(binary, (character) => character.charCodeAt(0)));
  };

  const based = (page, path) => {
    const inside = path.startsWith(`${folder}/`) ? path.slice(folder.length + 1) : path;
    const base = document.createElement("base");
    base.setAttribute("href", `${inside.split("/").slice(0, -1).map(encodeURIComponent).join("/")}/`);
    return page.replace("<head>", () => `<head>${base.outerHTML}`);
  };

  ContentDisplay.prototype.renderContent = function renderContent() {
    const { content, contentPath, resultPath } = this.props.app.state;
    const node = shown.call(this);
    if (content !== "html" || !contentPath.startsWith("data:") || !resultPath) return node;
    return React.createElement("iframe", {
      srcDoc: based(decode(contentPath), resultPath),
      sandbox: "allow-same-origin allow-popups allow-popups-to-escape-sandbox allow-downloads",
      title: resultPath,
      className: node.props.className,
      key: resultPath,
    });
  };
}
