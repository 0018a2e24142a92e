"use strict";
// Small layered graphs, drawn as SVG from left to right: the includes that lead to a definition, and which member extracted which.
//   nodes: [{id, title, sub, kind, flag}]   kind: a class of the box; flag: a word above it
//   edges: [{from, to, label}]

const SVG_NS = "http://www.w3.org/2000/svg";
const CHAR = 7.3, BOX_HEIGHT = 42, ROW = 66, PAD = 16, MOST_CHARS = 38;

function svg(tag, attributes, ...children) {
  const node = document.createElementNS(SVG_NS, tag);
  for (const [key, value] of Object.entries(attributes)) node.setAttribute(key, value);
  node.append(...children);
  return node;
}

/** "include/…/common.h": the ends of a path say more than its middle. */
function shortened(text, most = MOST_CHARS) {
  if (text.length <= most) return text;
  const head = Math.floor((most - 1) * 0.4);
  return text.slice(0, head) + "…" + text.slice(text.length - (most - 1 - head));
}

/** Longest way from each node to the end, so that what all ways share stands in one column. A step back into a way that
 *  is being walked (a header that includes itself) is left out. */
function distances(ids, next) {
  const known = new Map(), walking = new Set();
  function visit(id) {
    if (known.has(id)) return known.get(id);
    walking.add(id);
    let most = 0;
    for (const to of next.get(id) || []) if (!walking.has(to)) most = Math.max(most, visit(to) + 1);
    walking.delete(id);
    known.set(id, most);
    return most;
  }
  ids.forEach(visit);
  return known;
}

function adjacency(edges, from, to) {
  const map = new Map();
  for (const edge of edges) {
    if (!map.has(edge[from])) map.set(edge[from], []);
    map.get(edge[from]).push(edge[to]);
  }
  return map;
}

/** Columns of nodes, each sorted by where its neighbours stand. */
function columns(nodes, edges, endsAlign) {
  const next = adjacency(edges, "from", "to"), before = adjacency(edges, "to", "from");
  const distance = distances(nodes.map(n => n.id), endsAlign ? next : before);
  const most = Math.max(...distance.values());
  const result = Array.from({length: most + 1}, () => []);
  for (const node of nodes) result[endsAlign ? most - distance.get(node.id) : distance.get(node.id)].push(node);
  const order = endsAlign ? [...result].reverse() : result;
  const neighbours = endsAlign ? next : before;
  const place = new Map();
  for (const column of order) {
    const weight = new Map(column.map((node, i) => {
      const at = (neighbours.get(node.id) || []).map(id => place.get(id)).filter(y => y !== undefined);
      return [node, at.length ? at.reduce((a, b) => a + b) / at.length : i];
    }));
    column.sort((a, b) => weight.get(a) - weight.get(b));
    column.forEach((node, i) => place.set(node.id, i - (column.length - 1) / 2));
  }
  return result;
}

function labelWidth(edges) {
  return Math.max(0, ...edges.map(e => Math.min((e.label || "").length, 30))) * 6.4;
}

function boxOf(node, at) {
  const group = svg("g", {class: "box " + (node.kind || ""), transform: `translate(${at.x},${at.y})`});
  const tip = svg("title", {}, (node.sub ? node.sub : "") + node.title);
  group.append(tip, svg("rect", {width: at.width, height: BOX_HEIGHT, rx: 8}));
  group.append(svg("text", {class: "title", x: 12, y: node.sub ? 18 : 26}, shortened(node.title)));
  if (node.sub) group.append(svg("text", {class: "sub", x: 12, y: 33}, shortened(node.sub, MOST_CHARS + 4)));
  if (node.flag) group.append(svg("text", {class: "flag", x: 2, y: -5}, node.flag));
  return group;
}

/** The label stands at the end of the edge that it has to itself: includes meet at the right, pulls part at the left. */
function edgeOf(edge, from, to, marker, endsAlign) {
  const x1 = from.x + from.width, y1 = from.y + BOX_HEIGHT / 2, x2 = to.x - 3, y2 = to.y + BOX_HEIGHT / 2;
  const bend = (x2 - x1) / 2;
  const line = svg("path", {d: `M${x1},${y1} C${x1 + bend},${y1} ${x2 - bend},${y2} ${x2},${y2}`, "marker-end": `url(#${marker})`});
  const where = endsAlign ? {x: x1 + 7, y: y1 - 6} : {x: x2 - 9, y: y2 - 6, "text-anchor": "end"};
  const label = svg("text", {class: "label", ...where}, svg("title", {}, edge.label || ""), shortened(edge.label || "", 30));
  return [line, label];
}

let graphsDrawn = 0;

/** `endsAlign`: all ways end at the right (includes end at the site); else all begin at the left. */
function drawGraph(nodes, edges, endsAlign, description) {
  const cols = columns(nodes, edges, endsAlign);
  const gap = Math.max(48, labelWidth(edges) + 34);
  const tallest = Math.max(...cols.map(c => c.length));
  const height = tallest * ROW + 2 * PAD;
  const at = new Map();
  let x = PAD;
  for (const column of cols) {
    const chars = Math.max(...column.map(n => Math.max(shortened(n.title).length, shortened(n.sub || "", MOST_CHARS + 4).length * 0.92)));
    const width = Math.max(90, chars * CHAR + 26);
    const top = (height - column.length * ROW) / 2 + (ROW - BOX_HEIGHT) / 2 + 4;
    column.forEach((node, i) => at.set(node.id, {x, y: top + i * ROW, width}));
    x += width + gap;
  }
  const total = x - gap + PAD, marker = "arrow" + ++graphsDrawn;
  const root = svg("svg", {class: "graph", width: total, height, viewBox: `0 0 ${total} ${height}`, role: "img", "aria-label": description});
  root.append(svg("defs", {}, svg("marker", {id: marker, viewBox: "0 0 8 8", refX: 7, refY: 4, markerWidth: 7, markerHeight: 7, orient: "auto"},
                                  svg("path", {d: "M0,0.5 L8,4 L0,7.5 z"}))));
  for (const edge of edges) if (at.has(edge.from) && at.has(edge.to)) root.append(...edgeOf(edge, at.get(edge.from), at.get(edge.to), marker, endsAlign));
  for (const node of nodes) root.append(boxOf(node, at.get(node.id)));
  return root;
}
