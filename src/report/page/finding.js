// One finding, drawn from the JSON block. Names come from files that nobody vouches for, so they only ever become text
// nodes and attribute values, never markup.

const data = JSON.parse(document.getElementById("data").textContent);
const byId = id => document.getElementById(id);
const SEVERITIES = ["error", "warning", "note"];
const MOST_CHAINS = 12;      // drawn of one finding
const MOST_PULLS_DRAWN = 60; // beyond this a tree of words is easier to read
const MOST_OTHERS = 200;     // symbols of one cause
const MOST_PRINTED = 300;    // findings that are opened for printing

/** el("p.dim", {id: "x"}, "text", node): null children are left out. */
function el(spec, ...children) {
  const [tag, ...classes] = spec.split(".");
  const node = document.createElement(tag || "div");
  node.className = classes.join(" ");
  for (const child of children) {
    if (child === null || child === undefined) continue;
    if (typeof child === "object" && !(child instanceof Node)) for (const [k, v] of Object.entries(child)) node.setAttribute(k, v);
    else node.append(child);
  }
  return node;
}
const counted = (n, one) => `${n} ${one}${n === 1 ? "" : "s"}`;
const lineOf = at => at.line ? `${at.file}:${at.line}` : at.file;
const folderOf = path => path.slice(0, path.lastIndexOf("/") + 1);
const baseOf = path => path.slice(path.lastIndexOf("/") + 1);
const KNOWN_BY = {"debug-info": "debug info", "macro-info": "macro info", "preprocessor": "preprocessor", "depfile": "depfile + source scan", "source-scan": "source scan", "line-table": "debug info + source scan"};

// --- one finding

/** The cause and the first fix, which a closed card shows. */
function briefOf(finding) {
  const line = (word, text) => el("p", el("b", word), " ", ...inline(text));
  const lines = [finding.cause ? line("Cause", finding.cause.text) : null, finding.fixes.length ? line("Fix", finding.fixes[0].text) : null];
  return lines.some(Boolean) ? el("div.brief", ...lines) : null;
}

/** The message with the symbol set in bold. */
function messageOf(finding) {
  const name = finding.demangled, at = name ? finding.message.indexOf(name) : -1;
  if (at < 0) return [finding.message];
  return [finding.message.slice(0, at), el("code", name), finding.message.slice(at + name.length)];
}

function positionOf(site) {
  const section = site.section === "*COM*" ? "common" : site.section === "*ABS*" ? "absolute" : site.section || "";
  const offset = site.offset ? (section === "absolute" ? ` 0x${site.offset.toString(16)}` : `+0x${site.offset.toString(16)}`) : "";
  return [section + offset, site.size ? counted(site.size, "byte") : ""].filter(Boolean).join(", ");
}

function siteCard(site) {
  const known = site.file !== null;
  return el("div.site",
    el("div.role." + site.role, site.role),
    el("code", site.input),
    positionOf(site) ? el("div.pos", positionOf(site)) : null,
    known ? el("div", el("code", lineOf({file: site.file, line: site.line})), " ", el("span.dim", `(${KNOWN_BY[site.known_by] || site.known_by})`)) : null,
    !known && site.why_unknown ? el("div.pos", site.why_unknown) : null,
    site.notes.length ? el("ul", ...site.notes.map(note => el("li", note))) : null);
}

/** Adds an edge, or its label to the one that is there. */
function addEdge(edges, from, to, label) {
  const key = JSON.stringify([from, to]), known = edges.get(key);
  if (!known) edges.set(key, {from, to, label});
  else if (label && !known.label.split(", ").includes(label)) known.label += ", " + label;
}

function includeGraph(finding) {
  const sites = finding.sites.filter(site => site.file !== null && site.chain.length);
  if (!sites.length) return null;
  const nodes = new Map(), edges = new Map();
  const add = (file, kind, flag) => {
    if (!nodes.has(file)) nodes.set(file, {id: file, title: baseOf(file), sub: folderOf(file), kind: "", flag: ""});
    if (kind) Object.assign(nodes.get(file), {kind, flag});
  };
  for (const site of sites.slice(0, MOST_CHAINS)) {
    site.chain.forEach((step, i) => {
      const next = i + 1 < site.chain.length ? site.chain[i + 1].file : site.file;
      add(step.file);
      add(next);
      addEdge(edges, step.file, next, step.line ? "line " + step.line : "-include");
    });
    const flag = "line " + (site.line || "?"), before = nodes.get(site.file).flag;
    add(site.file, "target", !before || before.includes(flag) ? flag : before + ", " + flag);
    if (site.edit !== null && site.edit < site.chain.length) add(site.chain[site.edit].file, "edit", "yours to edit");
  }
  const list = [...edges.values()];
  const says = list.map(e => `${e.from} (${e.label}) includes ${e.to}`).join("; ");
  return el("section", el("h4", "Includes"), el("div.scroll", {tabindex: 0, role: "region", "aria-label": "Graph of the includes"}, drawGraph([...nodes.values()], list, true, says)),
    sites.length > MOST_CHAINS ? el("p.dim", `${sites.length - MOST_CHAINS} more ways are not drawn`) : null);
}

const pullOf = new Map(data.pulls.map(pull => [pull.object, pull]));

function objectNode(name, kind, flag) {
  const open = name.endsWith(")") ? name.lastIndexOf("(") : -1;
  return open > 0 ? {id: name, title: name.slice(open + 1, -1), sub: name.slice(0, open), kind, flag} : {id: name, title: baseOf(name), sub: folderOf(name), kind, flag};
}

function pullGraph(finding) {
  const nodes = new Map(), edges = new Map();
  for (const site of finding.sites) {
    if (!pullOf.has(site.input)) continue;
    nodes.set(site.input, objectNode(site.input, site.role, site.role));
    for (let name = site.input, steps = 0; pullOf.has(name) && steps < 40; ++steps) {
      const pull = pullOf.get(name);
      if (!nodes.has(pull.by)) nodes.set(pull.by, objectNode(pull.by, "", ""));
      addEdge(edges, pull.by, name, pull.because);
      name = pull.by;
    }
    if (nodes.size > MOST_PULLS_DRAWN) break;
  }
  if (!edges.size) return null;
  for (const site of finding.sites) if (nodes.has(site.input)) Object.assign(nodes.get(site.input), {kind: site.role, flag: site.role});
  const list = [...edges.values()];
  const says = list.map(e => `${e.from} needs ${e.label}, which pulls in ${e.to}`).join("; ");
  return el("section", el("h4", "Why it is part of the link"), el("div.scroll", {tabindex: 0, role: "region", "aria-label": "Graph of what extracted it"}, drawGraph([...nodes.values()], list, false, says)));
}

function diffBlock(diff) {
  const kind = line => /^(---|\+\+\+|@@)/.test(line) ? "at" : line[0] === "+" ? "add" : line[0] === "-" ? "del" : "same";
  return el("pre.diff", {tabindex: 0, role: "region", "aria-label": "Diff"}, ...diff.replace(/\n$/, "").split("\n").map(line => el("span." + kind(line), line + "\n")));
}

/** `code` and **bold** in a line. */
function inline(text) {
  return text.split(/(`[^`]+`|\*\*[^*]+\*\*)/).filter(Boolean).map(piece =>
    piece[0] === "`" && piece.length > 2 ? el("code", piece.slice(1, -1)) : piece.startsWith("**") && piece.length > 4 ? el("b", piece.slice(2, -2)) : piece);
}

/** The little Markdown that the pages about rules use: headings, lists, fences, `code`, **bold**. */
function markdown(text) {
  return text.split(/(```[\s\S]*?```)/).flatMap((block, i) => {
    if (i % 2) return [el("pre", block.replace(/^```.*\n?/, "").replace(/\n?```$/, ""))];
    return block.split(/\n{2,}/).filter(p => p.trim()).map(paragraph => {
      const lines = paragraph.trim().split("\n");
      if (/^#+ /.test(lines[0])) return el("h4", ...inline(lines.join(" ").replace(/^#+ /, "")));
      if (lines[0].startsWith("|")) return el("pre", lines.join("\n"));
      if (!/^[-*] /.test(lines[0])) return el("p", ...inline(lines.join(" ")));
      return el("ul", ...paragraph.trim().split(/\n(?=[-*] )/).map(item => el("li", ...inline(item.slice(2).replace(/\s+/g, " ")))));
    });
  });
}

function ruleHelp(finding) {
  const rule = data.rules[finding.rule];
  if (!rule) return null;
  const help = el("div.help", ...markdown(rule.help || rule.summary));
  if (/^https?:/.test(rule.link)) help.append(el("a", {href: rule.link, rel: "noreferrer"}, "The page of this rule"));
  return el("section", el("details", el("summary", `About ${finding.rule}`), help));
}

function factsOf(finding) {
  const link = el("button", {type: "button", title: "Copy a link to this finding"}, "Copy link");
  link.addEventListener("click", () => {
    const address = location.href.split("#")[0] + "#" + finding.id;
    history.replaceState(null, "", "#" + finding.id);
    if (navigator.clipboard) navigator.clipboard.writeText(address).catch(() => {});
    link.textContent = "Copied";
  });
  return el("section.facts",
    finding.symbol && finding.symbol !== finding.demangled ? el("span", "symbol ", el("code", finding.symbol)) : null,
    finding.links ? el("span", finding.links.length > 1 ? "links " : "link ", el("code", finding.links.join(", "))) : null,
    finding.archs ? el("span", "architectures ", el("code", finding.archs.join(", "))) : null,
    el("span", "fingerprint ", el("code", finding.fingerprint), link));
}

/** The other symbols of the same cause, each with its place and edit. */
function othersOf(finding) {
  const others = finding.also || [];
  if (!others.length) return null;
  const rows = others.slice(0, MOST_OTHERS).map(other => {
    const site = other.sites.find(s => s.file !== null), fix = other.fixes.find(f => f.diff);
    return el("li", el("code", other.demangled || other.message), site ? " " + lineOf({file: site.file, line: site.line}) : "", fix ? diffBlock(fix.diff) : null);
  });
  return el("section", el("details", el("summary", `${counted(others.length, "more symbol")} of the same cause`), el("ul", ...rows),
    others.length > MOST_OTHERS ? el("p.dim", `${others.length - MOST_OTHERS} more are not shown`) : null));
}

function bodyOf(finding) {
  const fixes = finding.fixes.map(fix => el("li", ...inline(fix.text), fix.diff ? diffBlock(fix.diff) : null));
  const body = el("div.body",
    finding.reason ? el("section", el("h4", "Suppressed because"), el("p", finding.reason)) : null,
    finding.cause ? el("section", el("h4", "Cause"), el("p.why", ...inline(finding.cause.text))) : null,
    fixes.length ? el("section", el("h4", fixes.length > 1 ? "Fix: one of" : "Fix"), fixes.length > 1 ? el("ol", ...fixes) : el("div", ...fixes[0].childNodes)) : null,
    othersOf(finding),
    includeGraph(finding),
    finding.sites.length ? el("section", el("h4", counted(finding.sites.length, "site")), el("div.sites", ...finding.sites.map(siteCard))) : null,
    pullGraph(finding),
    finding.notes.length ? el("section", el("h4", "Notes"), el("ul", ...finding.notes.map(note => el("li", ...inline(note))))) : null,
    ruleHelp(finding), factsOf(finding));
  return body;
}

function openGroup(finding) {
  if (!finding.group.node.open) finding.group.node.open = finding.group.chosen = true;
}

function setOpen(finding, open) {
  if (open) openGroup(finding);
  if (open && !finding.body) {
    finding.body = bodyOf(finding);
    finding.body.id = "body-" + finding.id;
    finding.node.append(finding.body);
    finding.button.setAttribute("aria-controls", finding.body.id);
  }
  if (finding.body) finding.body.hidden = !open;
  finding.node.classList.toggle("open", open);
  finding.button.setAttribute("aria-expanded", open);
}
const isOpen = finding => finding.node.classList.contains("open");

function rowOf(finding) {
  const at = finding.focus;
  finding.button = el("button", {type: "button", "aria-expanded": "false"},
    el("span.what", el("span.sev", finding.severity), ...messageOf(finding)), el("span.rule", finding.rule, finding.status === "new" ? null : el("b.status", finding.status)),
    at.file && !finding.message.includes(at.file) ? el("span.where", el("code.whole", lineOf(at)), el("span.short", at.line ? "line " + at.line : "")) : null);
  finding.node = el("article.finding." + finding.severity, {id: finding.id}, el("h3", finding.button), briefOf(finding));
  finding.button.addEventListener("click", () => setOpen(finding, !isOpen(finding)));
  return finding.node;
}
