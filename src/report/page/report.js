// The page around the findings: list, search, filters, the other two panels, keys.

// --- the list: groups, filters, search

const STATUSES = ["new", "in the baseline", "suppressed"];
const news = data.findings.filter(f => f.status === "new");
const state = {query: "", statuses: new Set(["new"]), severities: new Set(SEVERITIES), rules: new Set(data.findings.map(f => f.rule)), group: "place"};
const MOST_CAUSES = 3;  // named in the heading of a file
const MOST_OPEN = 20;   // findings that are shown without opening their group
const MOST_GROUPS = 25; // of the grouping that a report begins with, so that they fit a few screens

function prepare() {
  const used = new Map();
  for (const finding of data.findings) {
    const n = (used.get(finding.fingerprint) || 0) + 1;
    used.set(finding.fingerprint, n);
    finding.id = "f-" + finding.fingerprint + (n > 1 ? "-" + n : "");
    const words = [finding.message, finding.symbol, finding.demangled, finding.rule, finding.cause ? finding.cause.text : "", finding.focus.file];
    for (const fix of finding.fixes) words.push(fix.text);
    for (const other of finding.also || []) words.push(other.symbol, other.demangled);
    for (const site of finding.sites) words.push(site.input, site.file || "", ...site.notes, ...site.chain.map(step => step.file));
    finding.words = words.join("\n").toLowerCase();
  }
  state.group = ["place", "cause"].find(grouping => groupCount(grouping) <= MOST_GROUPS) || "rule";
}

const causeOf = finding => finding.cause ? finding.cause.kind : finding.rule;
/** The ways to group: the words of the menu, and the kind and the name of a finding's group. */
const GROUPINGS = {
  place: ["Header or source", f => f.focus.source ? ["file", f.focus.file] : ["cause", causeOf(f)]],
  cause: ["Cause", f => ["cause", causeOf(f)]],
  rule: ["Rule", f => ["rule", f.rule]],
  object: ["Object", f => ["object", f.sites.length ? f.sites[0].input : ""]],
};
const groupOf = (finding, grouping) => JSON.stringify(GROUPINGS[grouping][1](finding));
const groupCount = grouping => new Set(data.findings.map(f => groupOf(f, grouping))).size;

/** A file with the causes of its findings, or a cause or rule with what it means. */
function groupTitle(kind, name, findings) {
  if (kind === "file" || kind === "object") {
    const causes = [...new Set(findings.map(causeOf))], others = causes.length - MOST_CAUSES;
    return [el("code", el("span.dim", folderOf(name)), el("b", baseOf(name) || "no object")),
      el("span.means", causes.slice(0, MOST_CAUSES).join(", ") + (others > 0 ? ` and ${others} more` : ""))];
  }
  const means = kind === "cause" && data.causes[name] || (data.rules[name] || {summary: ""}).summary;
  return [el("b", name), el("span.means", ...inline(means))];
}

/** "2 errors, 1 note" of those that are shown. */
function tallyOf(findings) {
  const shown = findings.filter(f => !f.node.hidden);
  return SEVERITIES.map(s => [s, shown.filter(f => f.severity === s).length]).filter(([, n]) => n).map(([s, n]) => counted(n, s)).join(", ");
}

function drawList() {
  const groups = new Map();
  for (const finding of data.findings) {
    const key = groupOf(finding, state.group);
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push(finding);
  }
  const rank = findings => Math.min(...findings.map(f => SEVERITIES.indexOf(f.severity)));
  const sorted = [...groups].sort((a, b) => rank(a[1]) - rank(b[1]) || b[1].length - a[1].length || (a[0] < b[0] ? -1 : 1));
  state.groups = sorted.map(([key, findings]) => {
    const [kind, name] = JSON.parse(key), tally = el("span.n");
    const node = el("details.group", {"data-kind": kind}, el("summary", el("h2", ...groupTitle(kind, name, findings), tally)), ...findings.map(f => f.node || rowOf(f)));
    const group = {node, findings, tally};
    node.firstChild.addEventListener("click", () => { group.chosen = !node.open; });
    for (const finding of findings) finding.group = group;
    return group;
  });
  byId("list").replaceChildren(...state.groups.map(g => g.node));
  if (!news.length) byId("list").append(el("p.empty", data.complete ? "Nothing to report." : "The audit is incomplete."));
  filter();
}

/** Each box of a filter, and what it counts: the findings that it would show with the search and the other filters as they are. */
const boxes = [];
const FACETS = [["statuses", "status"], ["severities", "severity"], ["rules", "rule"]];

function filter() {
  const words = state.query.toLowerCase().split(/\s+/).filter(Boolean), has = text => words.every(w => text.includes(w));
  const counts = new Map();
  let shown = 0, groupsShown = 0;
  for (const group of state.groups) {
    let any = false;
    for (const finding of group.findings) {
      const misses = FACETS.filter(([set, key]) => !state[set].has(finding[key])), found = has(finding.words);
      for (const [set, key] of found && misses.length < 2 ? FACETS : [])
        if (misses.every(([other]) => other === set)) counts.set(set + finding[key], (counts.get(set + finding[key]) || 0) + 1);
      const fits = found && !misses.length;
      finding.node.hidden = !fits;
      shown += fits ? 1 : 0;
      any = any || fits;
    }
    group.node.hidden = !any;
    groupsShown += any ? 1 : 0;
    group.tally.textContent = tallyOf(group.findings);
  }
  for (const group of state.groups) {
    const few = shown <= MOST_OPEN || groupsShown === 1;
    group.node.open = (state.query && few) || (group.chosen ?? few);
  }
  for (const box of boxes) box.count.textContent = counts.get(box.set + box.value) || 0;
  const total = news.length === data.findings.length || state.statuses.size > 1 ? data.findings.length : news.length;
  byId("shown").textContent = shown === total ? (total ? counted(total, "finding") : "") : `${shown} of ${counted(total, "finding")} shown`;
  const inTabs = {findings: shown, link: data.pulls.filter(p => has((p.object + " " + p.because).toLowerCase())).length};
  for (const [name, n] of Object.entries(inTabs)) if (byId("tab-" + name)) byId("tab-" + name).querySelector(".count").textContent = n;
  for (const row of document.querySelectorAll("[data-words]")) row.hidden = !has(row.dataset.words);
}

function checkbox(set, value, ...label) {
  const box = el("input", {type: "checkbox"}), count = el("span.n");
  box.checked = state[set].has(value);
  box.addEventListener("change", () => { box.checked ? state[set].add(value) : state[set].delete(value); filter(); });
  boxes.push({set, value, count, input: box});
  return el("label", box, ...label, count);
}

const facet = (title, ...rows) => el("div", {role: "group", "aria-label": title}, el("h2", title), ...rows);

function drawFilters() {
  const count = test => data.findings.filter(test).length;
  const severities = SEVERITIES.filter(s => count(f => f.severity === s));
  const group = el("select", {"aria-label": "Group by"}, ...Object.entries(GROUPINGS).map(([value, [words]]) => el("option", {value}, words)));
  group.value = state.group;
  group.addEventListener("change", () => { state.group = group.value; drawList(); });
  const all = el("button.plain", {type: "button"}, "Open all that are shown");
  all.addEventListener("click", () => {
    const shown = data.findings.filter(f => !f.node.hidden).slice(0, MOST_PRINTED), open = !shown.every(isOpen);
    shown.forEach(f => setOpen(f, open));
    all.textContent = open ? "Close them" : "Open all that are shown";
  });
  if (!data.findings.length) return byId("filters").remove();
  const fold = el("details", el("summary", "Filters"), el("div.facets",
    ...(news.length === data.findings.length ? [] : [facet("Status", ...STATUSES.filter(s => count(f => f.status === s)).map(s => checkbox("statuses", s, s)))]),
    facet("Severity", ...severities.map(s => checkbox("severities", s, el("span.dot." + s), s))),
    facet("Rule", ...[...state.rules].sort().map(r => checkbox("rules", r, el("span", {title: data.rules[r] ? data.rules[r].summary : r}, r)))),
    facet("Group by", group), all));
  byId("filters").append(fold);
  const wide = matchMedia("(min-width: 821px)"), unfold = () => { fold.open = wide.matches; };
  wide.addEventListener("change", unfold);
  unfold();
}

// --- extracted members, the architectures

function pullTree() {
  const children = new Map(), pulled = new Set(data.pulls.map(p => p.object));
  for (const pull of data.pulls) {
    if (!children.has(pull.by)) children.set(pull.by, []);
    children.get(pull.by).push(pull);
  }
  const item = (name, because, depth) => {
    const words = (name + " " + because).toLowerCase(), below = children.get(name) || [];
    const line = el("div", el("code", name), because ? el("span.dim", " needed for ", el("code", because)) : null);
    if (!below.length) line.dataset.words = words;
    return el("li", line, below.length && depth < 60 ? el("ul", ...below.map(p => item(p.object, p.because, depth + 1))) : null);
  };
  return el("div.tree", el("ul", ...[...children.keys()].filter(name => !pulled.has(name)).map(name => item(name, "", 0))));
}

function drawLink() {
  const panel = byId("panel-link");
  panel.append(el("p.lead", "Archive members take part in a link only when something before them needs them. These are the extracted members, and what needed each."));
  if (data.pulls.length <= MOST_PULLS_DRAWN) {
    const nodes = new Map(), edges = new Map();
    for (const pull of data.pulls) {
      for (const name of [pull.by, pull.object]) if (!nodes.has(name)) nodes.set(name, objectNode(name, "", ""));
      addEdge(edges, pull.by, pull.object, pull.because);
    }
    panel.append(el("div.scroll", {tabindex: 0, role: "region", "aria-label": "Graph of the extracted members"}, drawGraph([...nodes.values()], [...edges.values()], false, "which member extracted which; the list below says the same")));
  }
  panel.append(el("section", {style: "margin-top:20px"}, pullTree()));
}

const sizeOf = bytes => bytes < 1024 ? bytes + " B" : bytes < 1048576 ? (bytes / 1024).toFixed(1) + " KiB" : (bytes / 1048576).toFixed(1) + " MiB";

function archCell(images) {
  if (!images) return el("td", el("span.cell.dim", el("span.swatch.none"), "none"));
  const kinds = [...new Set(images.map(i => i.kind))], stored = images.reduce((sum, i) => sum + i.stored, 0);
  const packed = [...new Set(images.map(i => i.compression))].filter(c => c !== "none").join(", ");
  const tip = images.map(i => `${i.kind} for ${i.target}: ${sizeOf(i.stored)} stored, ${sizeOf(i.real)} in all, compression ${i.compression}`).join("\n");
  return el("td", {title: tip}, el("span.cell", ...kinds.map(k => el("span.swatch." + k)), `${images.length > 1 ? images.length + "× " : ""}${sizeOf(stored)}`, packed ? el("span.dim", packed) : null));
}

function drawArchs() {
  const targets = [...new Map(data.images.map(i => [i.target, i.number]))].sort((a, b) => a[1] - b[1] || (a[0] < b[0] ? -1 : 1)).map(([t]) => t);
  const rows = new Map();
  for (const image of data.images) {
    if (!rows.has(image.object)) rows.set(image.object, new Map());
    const row = rows.get(image.object);
    row.set(image.target, [...(row.get(image.target) || []), image]);
  }
  const body = [...rows].map(([object, row]) => {
    const tr = el("tr", el("th", {scope: "row"}, el("code", object)), ...targets.map(t => archCell(row.get(t))));
    tr.dataset.words = (object + " " + [...row.keys()].join(" ")).toLowerCase();
    return tr;
  });
  const legend = [["cubin", "cubin: runs on that GPU"], ["ptx", "PTX: compiled when it is loaded or linked"], ["lto-ir", "LTO-IR: compiled by the device link"], ["elf", "ELF: of an AMD GPU"], ["bitcode", "bitcode: compiled by the device link"], ["none", "none"]]
    .filter(([k]) => !["elf", "bitcode"].includes(k) || data.images.some(i => i.kind === k));
  byId("panel-archs").append(
    el("p.lead", `Device code of ${counted(rows.size, "object")} for ${counted(targets.length, "architecture")}: what each object has, and where it has nothing.`),
    el("div.legend", ...legend.map(([k, text]) => el("span.cell", el("span.swatch." + k), text))),
    el("div.scroll", {tabindex: 0, role: "region", "aria-label": "Table of the architectures"}, el("table", el("thead", el("tr", el("th", {scope: "col"}, "Object"), ...targets.map(t => el("th", {scope: "col"}, t)))), el("tbody", ...body))));
}

// --- the frame

/** The longest path of a package that the file is, or is in. */
const packageOf = path => data.packages.filter(p => path === p || path.startsWith(p + "/")).sort((a, b) => b.length - a.length)[0] || "";

/** What has these findings: "The link of app has", "1 of 5 links has", "dist/x.whl has". */
function subject(findings) {
  const links = new Set(findings.flatMap(f => f.links || [])), packages = new Set(findings.flatMap(f => f.sites.length ? f.sites.map(s => packageOf(s.path)) : [""]));
  if (data.links && (!links.size || findings.some(f => !f.links))) return `The build of ${counted(data.links, "link")} has`;
  if (data.links) return `${links.size} of ${counted(data.links, "link")} ${links.size === 1 ? "has" : "have"}`;
  if (data.output) return `The link of ${baseOf(data.output)} has`;
  if (packages.has("") || !packages.size) return "The files have";
  return packages.size === 1 ? `${[...packages][0]} has` : `${packages.size} packages have`;
}

/** The heading and its colour. */
function verdict() {
  const worst = SEVERITIES.find(s => news.some(f => f.severity === s));
  if (!data.complete) return ["The audit is incomplete", "bad"];
  if (!worst) return [data.summary.startsWith("clean") ? "Clean" : "No findings", "good"];
  const has = subject(news.filter(f => f.severity === worst));
  return worst === "error" ? [`${has} errors`, "bad"] : [`${has} ${worst}s, no errors`, "care"];
}

function drawVerdict() {
  const [words, tone] = verdict(), counts = data.summary.split(": ")[0], rest = data.summary.slice(counts.length + 2);
  const sub = /^(clean|no findings)$/.test(counts) ? rest : data.summary;
  byId("verdict").append(el("h2." + tone, words), el("p.sub", data.output ? el("code", data.output) : null, data.output ? "  " : "", sub));
  if (data.remarks.length) byId("verdict").append(el("ul", ...data.remarks.map(r => el("li", r))));
  document.title = ["elfaudit", counts, data.output || (data.packages.length === 1 ? data.packages[0] : rest)].filter(Boolean).join(": ");
  byId("foot").append(el("span", `elfaudit ${data.version}`), el("span", el("kbd", "/"), " search"), el("span", el("kbd", "j"), " ", el("kbd", "k"), " next, previous"), el("span", el("kbd", "Enter"), " open"), el("span", el("kbd", "t"), " light or dark"));
  if (data.undefined.length) byId("panel-findings").after(el("details", el("summary", counted(data.undefined.length, "undefined symbol")), el("ul", ...data.undefined.map(name => el("li", el("code", name))))));
}

const drawn = new Set(["findings"]);
const PANELS = {link: drawLink, archs: drawArchs};

/** Each panel is drawn when it is first looked at. */
function draw(name) {
  if (drawn.has(name)) return;
  drawn.add(name);
  PANELS[name]();
  filter();
}

function show(name) {
  draw(name);
  for (const tab of byId("tabs").children) {
    const selected = tab.id === "tab-" + name;
    tab.setAttribute("aria-selected", selected);
    tab.tabIndex = selected ? 0 : -1;
    byId(tab.id.replace("tab", "panel")).hidden = !selected;
  }
}

function drawTabs() {
  const tabs = [["findings", "Findings", news.length], ["link", "Extracted members", data.pulls.length], ["archs", "Architectures", new Set(data.images.map(i => i.target)).size]];
  for (const [name, words, n] of tabs) {
    if (n === 0 && name !== "findings") { byId("panel-" + name).remove(); continue; }
    const tab = el("button", {type: "button", role: "tab", id: "tab-" + name, "aria-controls": "panel-" + name}, words, el("span.count", String(n)));
    tab.addEventListener("click", () => show(name));
    byId("tabs").append(tab);
  }
  byId("tabs").addEventListener("keydown", event => {
    const all = [...byId("tabs").children], at = all.indexOf(document.activeElement), last = all.length - 1;
    const to = {ArrowRight: at < last ? at + 1 : 0, ArrowLeft: at > 0 ? at - 1 : last, Home: 0, End: last}[event.key];
    if (to === undefined) return;
    event.preventDefault();
    const next = all[to];
    next.click();
    next.focus();
  });
  show("findings");
}

function remembered(value) {
  try {  // a page that was opened from a disk may have no storage
    if (value) localStorage.setItem("elfaudit-theme", value);
    return localStorage.getItem("elfaudit-theme");
  } catch { return null; }
}
const prefersDark = matchMedia("(prefers-color-scheme: dark)");
function setTheme() { document.documentElement.dataset.theme = remembered() || (prefersDark.matches ? "dark" : "light"); }
function switchTheme() {
  const next = document.documentElement.dataset.theme === "dark" ? "light" : "dark";
  remembered(next);
  document.documentElement.dataset.theme = next;
}

function step(by) {
  const shown = state.groups.flatMap(group => group.findings).filter(f => !f.node.hidden);
  const at = shown.findIndex(f => f.button === document.activeElement);
  const next = shown[at < 0 ? (by > 0 ? 0 : shown.length - 1) : at + by];
  if (!next) return;
  openGroup(next);
  next.button.focus();
  next.button.scrollIntoView({block: "nearest"});
}

function onKey(event) {
  const search = byId("search");
  if (event.key === "Escape" && document.activeElement === search) { search.value = ""; state.query = ""; filter(); search.blur(); }
  if (event.ctrlKey || event.metaKey || event.altKey || event.target.matches("select, textarea, input:not([type=checkbox])")) return;
  const action = {"/": () => search.focus(), j: () => step(1), k: () => step(-1), t: switchTheme}[event.key];
  if (action) { event.preventDefault(); action(); }
}

/** Takes the search and the filters back that hide a finding. */
function showAgain(finding) {
  byId("search").value = state.query = "";
  for (const [set, key] of FACETS) {
    state[set].add(finding[key]);
    for (const box of boxes) if (box.set === set && box.value === finding[key]) box.input.checked = true;
  }
  filter();
}

function openLinked() {
  const finding = data.findings.find(f => "#" + f.id === location.hash);
  if (!finding) return;
  show("findings");
  if (finding.node.hidden) showAgain(finding);
  setOpen(finding, true);
  finding.node.scrollIntoView();
}

setTheme();
prefersDark.addEventListener("change", setTheme);
byId("theme").addEventListener("click", switchTheme);
byId("search").addEventListener("input", event => { state.query = event.target.value; filter(); });
document.addEventListener("keydown", onKey);
window.addEventListener("hashchange", openLinked);
window.addEventListener("beforeprint", () => {
  for (const tab of byId("tabs").children) draw(tab.id.slice(4));
  for (const group of state.groups) group.node.open = true;
  data.findings.filter(f => !f.node.hidden).slice(0, MOST_PRINTED).forEach(f => setOpen(f, true));
});
prepare();
drawVerdict();
drawTabs();
drawFilters();
drawList();
if (data.findings.length && data.findings.length <= 3) data.findings.forEach(f => setOpen(f, true));
openLinked();
