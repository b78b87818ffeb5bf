// The fixture in a browser. It tells its state to the server that it came from.
"use strict";

addEventListener("error", (e) => fetch("fault", { method: "POST", body: `${e.filename}:${e.lineno}: ${e.message}` }));

const args = new URLSearchParams(location.search);
const rows = Number(args.get("rows"));
document.title = args.get("title");

const state = { focused: false, keys: [], scroll: 0 };
Object.assign(state, rows ? { rows, row: "" } : {
  presses: 0, twin: 0, agree: false, name: "", password: "", notes: "", volume: 30, count: 5, colour: "Red",
  tab: "First", second: 0, fruit: "", shuffled: 0, dialog: "", hidden: false, ghost: 0, menu: "", slow: 0,
  clicks: [], drags: [],
});

// One report is on its way at a time, so none overtakes another.
// The first goes out when there is something to be seen.
let painted = false, due = false, sending = false;

async function report() {
  due = true;
  if (!painted || sending) return;
  sending = true;
  while (due) {
    due = false;
    await fetch("state", { method: "POST", body: JSON.stringify({ ...state, where: where() }) });
  }
  sending = false;
}

function set(changes) {
  Object.assign(state, changes);
  report();
}

// Where the controls are in the window, which may have a frame of the browser's own.
function where() {
  const side = Math.floor((outerWidth - innerWidth) / 2), top = outerHeight - innerHeight - side, places = {};
  for (const e of document.querySelectorAll("[data-name]")) {
    const r = e.getBoundingClientRect();
    if (r.width) places[e.dataset.name] = [r.x + side, r.y + top, r.width, r.height].map(Math.round);
  }
  return places;
}

const find = (id) => document.getElementById(id);
const on = (id, event, act) => find(id).addEventListener(event, act);
const adds = (id, key) => on(id, "click", () => set({ [key]: state[key] + 1 }));

// choose makes the element, one of its siblings, the selected one.
function choose(element) {
  for (const e of element.parentElement.children) e.setAttribute("aria-selected", e === element);
}

function fill(label, numbers, key) {
  for (const n of numbers) {
    const row = document.createElement("div");
    row.textContent = row.dataset.name = `${label} ${n}`;
    row.setAttribute("role", "option");
    row.setAttribute("aria-selected", "false");
    row.addEventListener("click", () => { choose(row); set({ [key]: row.textContent }); });
    find("list").append(row);
  }
}

const upTo = (n) => Array.from({ length: n }, (_, i) => i + 1);

function fields() {
  on("agree", "change", (e) => set({ agree: e.target.checked }));
  for (const key of ["name", "password", "notes", "colour"]) on(key, "input", (e) => set({ [key]: e.target.value }));
  for (const key of ["volume", "count"]) on(key, "input", (e) => set({ [key]: Number(e.target.value) }));
}

function buttons() {
  on("press", "click", () => {
    set({ presses: state.presses + 1 });
    find("times").textContent = `Pressed ${state.presses} times`;
  });
  on("twin1", "click", () => set({ twin: 1 }));
  on("twin2", "click", () => set({ twin: 2 }));
  on("slow", "click", () => setTimeout(() => {
    set({ slow: state.slow + 1 });
    find("times").textContent = `Slow ${state.slow} times`;
  }, 150));
  adds("second", "second");
  adds("ghost", "ghost");
  on("hide", "click", () => { find("ghost").hidden = true; set({ hidden: true }); });
  on("shuffle", "click", () => {
    const numbers = Array.from(find("list").children, (row) => Number(row.textContent.split(" ")[1]));
    find("list").replaceChildren();
    fill("Fruit", numbers.reverse(), "fruit");
    set({ shuffled: state.shuffled + 1, fruit: "" });
  });
}

function menu() {
  on("file", "click", () => { find("menu").hidden = !find("menu").hidden; report(); });
  for (const item of find("menu").children) {
    item.addEventListener("click", () => { find("menu").hidden = true; set({ menu: item.textContent }); });
  }
}

function tabs() {
  for (const tab of document.querySelectorAll("[role=tab]")) {
    tab.addEventListener("click", () => {
      choose(tab);
      find("first").hidden = tab.textContent !== "First";
      find("second").hidden = tab.textContent !== "Second";
      set({ tab: tab.textContent });
    });
  }
}

function dialog() {
  on("open", "click", () => { find("dialog").showModal(); set({ dialog: "open" }); });
  on("yes", "click", () => find("dialog").close("yes"));
  on("no", "click", () => find("dialog").close("no"));
  on("dialog", "close", () => { set({ dialog: find("dialog").returnValue || "closed" }); find("dialog").returnValue = ""; });
}

function canvas() {
  const drag = 8; // so many pixels make a drag of a click
  let from = null;
  const point = (e) => {
    const r = find("canvas").getBoundingClientRect();
    return [Math.round(e.clientX - r.x), Math.round(e.clientY - r.y)];
  };
  on("canvas", "contextmenu", (e) => e.preventDefault());
  on("canvas", "mousedown", (e) => {
    from = point(e);
    set({ clicks: [...state.clicks, { button: e.button + 1, count: e.detail || 1, x: from[0], y: from[1] }] });
  });
  addEventListener("mouseup", (e) => {
    if (!from) return;
    const to = point(e);
    if (Math.max(Math.abs(to[0] - from[0]), Math.abs(to[1] - from[1])) >= drag) {
      set({ drags: [...state.drags, { button: e.button + 1, from, to }] });
    }
    from = null;
  });
}

// The names that the other fixtures have for keys: those of X11.
const keyNames = { Enter: "Return", " ": "space", Backspace: "BackSpace", ArrowLeft: "Left", ArrowRight: "Right",
  ArrowUp: "Up", ArrowDown: "Down", PageUp: "Prior", PageDown: "Next" };
const modifiers = ["Control", "Alt", "AltGraph", "Shift", "Meta", "CapsLock", "NumLock"];

addEventListener("keydown", (e) => {
  if (modifiers.includes(e.key)) return;
  const held = [e.ctrlKey && "ctrl", e.altKey && "alt", e.shiftKey && "shift", e.metaKey && "super"].filter(Boolean);
  set({ keys: [...state.keys, [...held, keyNames[e.key] ?? e.key].join("+")].slice(-10) });
}, true);
addEventListener("focus", () => set({ focused: true }));
addEventListener("blur", () => set({ focused: false }));
addEventListener("resize", report);

document.body.append(find(rows ? "rows" : "controls").content);
fill(rows ? "Row" : "Fruit", upTo(rows || 40), rows ? "row" : "fruit");
on("list", "scroll", () => set({ scroll: Math.round(find("list").scrollTop) }));
if (!rows) [fields, buttons, menu, tabs, dialog, canvas].forEach((begin) => begin());
new PerformanceObserver(() => {
  painted = true;
  set({ focused: document.hasFocus() });
}).observe({ type: "paint", buffered: true });
