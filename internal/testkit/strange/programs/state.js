// The state of a strange window as a page, and the parts that all its controls use. The
// description comes from window.json; the state goes to POST state.
"use strict";

const windowName = new URLSearchParams(location.search).get("window") || "";
const state = { values: {}, events: [], dialog: "" };
const makers = {};
let ready = false;
let sent = Promise.resolve();

function write() {
  if (!ready) return;
  const body = JSON.stringify(state);
  sent = sent.then(() => fetch("/state?window=" + windowName, { method: "POST", body, keepalive: true })).catch(() => {});
}

function set(node, value, part = "") { state.values[node.id + (part !== "" ? "/" + part : "")] = value; write(); }
let counted = () => {};
function event(node, what) { state.events.push([node.id, what]); counted(state.events.length); write(); }
function habit(node, which) { return (node.habits || {})[which]; }

function later(node, run) {
  const ms = habit(node, "slow_ms") || 0;
  if (ms) setTimeout(run, ms); else run();
}

function normal(node, text) {
  const how = habit(node, "normalise");
  return how === "upper" ? text.toUpperCase() : how === "trim" ? text.trim() : text;
}

// accepted returns the part of the text that the field takes.
function accepted(node, text) {
  const how = habit(node, "accepts");
  if (how) text = text.replace(/\D/g, "");
  return how === "mask" ? text.slice(0, 6).replace(/(..)(?=.)/g, "$1-") : text;
}

// cell returns the text of a table's cell at the start.
function cell(node, row, column) { return column ? `${node.columns[column].toLowerCase()} ${row + 1}` : node.items[row]; }

function element(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [key, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(key, value);
  e.append(...children);
  return e;
}

// withLabel returns the control with its label at the place that the node wants.
function withLabel(node, control, field = control) {
  switch (node.labelling) {
    case "own": field.setAttribute("aria-label", node.name); return control;
    case "placeholder": field.setAttribute("placeholder", node.name); return control;
    case "tooltip": field.title = node.name; return control;
    case "none": return control;
  }
  if (node.labelling === "relation") {
    field.id = node.id;
    return element("div", {}, element("label", { for: node.id }, node.name), " ", control);
  }
  const text = element("span", {}, node.name);
  const parts = node.labelling === "after" ? [control, " ", text] : [text, " ", control];
  return element("div", { class: node.labelling === "above" ? "above" : "beside" }, ...parts);
}

function over(node, part) {
  if (node.labelling === "own") part.setAttribute("aria-label", node.name);
  return node.labelling === "above" ? element("div", {}, element("div", {}, node.name), part) : part;
}

// shadowed returns the control inside the shadow root of a custom element with the same name.
function shadowed(node, control) {
  if (habit(node, "custom") !== "shadow") return control;
  const host = element("strange-" + node.kind);
  if (node.name && node.labelling === "own") host.setAttribute("label", node.name);
  const style = element("link", { rel: "stylesheet", href: "/page.css" });
  host.attachShadow({ mode: "open" }).append(style, control);
  return host;
}

function question(node) {
  const dialog = element("dialog", {}, element("p", {}, node.name + " was used."));
  const close = element("button", {}, "Understood");
  close.onclick = () => { state.dialog = ""; dialog.close(); dialog.remove(); write(); };
  dialog.append(close);
  document.body.append(dialog);
  state.dialog = node.id;
  dialog.showModal();
  write();
}

// all returns the element and all below it, also in shadow roots.
function all(part) {
  const roots = [part, ...(part.shadowRoot ? [...part.shadowRoot.children] : []), ...part.children];
  return roots.flatMap((e) => (e === part ? [e] : all(e)));
}

function make(node) {
  let part = makers[node.kind](node);
  if (node.disabled) {
    for (const control of all(part)) if ("disabled" in control) control.disabled = true;
    part.classList.add("off");
    part.setAttribute("aria-disabled", "true");
    part.style.pointerEvents = "none";
  }
  if (node.covered) part = element("div", { class: "covered" }, part, element("div", { class: "cover" }, "▒▒▒"));
  if (node.hidden) part.style.display = "none";
  return part;
}
