// A strange window as a page. The description comes from window.json; the state goes to POST state.
"use strict";

const state = { values: {}, events: [], dialog: "" };
let ready = false;
let sent = Promise.resolve();

function write() {
  if (!ready) return;
  const body = JSON.stringify(state);
  sent = sent.then(() => fetch("state" + location.search, { method: "POST", body, keepalive: true })).catch(() => {});
}

function set(node, value) { state.values[node.id] = value; write(); }
function event(node, what) { state.events.push([node.id, what]); write(); }

function later(node, run) {
  const ms = (node.habits || {}).slow_ms || 0;
  if (ms) setTimeout(run, ms); else run();
}

function normal(node, text) {
  const how = (node.habits || {}).normalise;
  return how === "upper" ? text.toUpperCase() : how === "trim" ? text.trim() : text;
}

function element(tag, attributes = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) if (value !== undefined) e.setAttribute(name, value);
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

// shadowed returns the control inside the shadow root of a custom element with the same name.
function shadowed(node, control) {
  if ((node.habits || {}).custom !== "shadow") return control;
  const host = element("strange-" + node.kind);
  if (node.name && node.labelling === "own") host.setAttribute("label", node.name);
  host.attachShadow({ mode: "open" }).append(control);
  return host;
}

function children(node) { return (node.children || []).map(make); }

function box(node) { return element("div", { class: node.kind }, ...children(node)); }

function frame(node) { return element("fieldset", {}, element("legend", {}, node.name), ...children(node)); }

function notebook(node) {
  const tabs = element("div", { role: "tablist" });
  const pages = children(node).map((child) => element("div", { role: "tabpanel" }, child));
  const show = (n) => {
    pages.forEach((page, i) => { page.hidden = i !== n; });
    [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-selected", i === n));
    set(node, n);
  };
  node.items.forEach((title, i) => {
    const tab = element("button", { role: "tab" }, title);
    tab.onclick = () => show(i);
    tabs.append(tab);
  });
  show(0);
  return element("div", {}, tabs, ...pages);
}

function expander(node) {
  const part = element("details", node.value ? { open: "" } : {}, element("summary", {}, node.name), ...children(node));
  set(node, part.open);
  part.ontoggle = () => set(node, part.open);
  return part;
}

function entry(node) {
  const field = element("input", { type: node.kind === "password" ? "password" : "text", value: node.value || "" });
  field.readOnly = node.kind === "readonly";
  set(node, field.value);
  field.oninput = () => later(node, () => set(node, normal(node, field.value)));
  if ((node.habits || {}).normalise) field.onchange = () => { field.value = normal(node, field.value); };
  return shadowed(node, withLabel(node, field));
}

function text(node) {
  if ((node.habits || {}).custom === "editable") {
    const area = element("div", { contenteditable: "true", role: "textbox", "aria-multiline": "true", style: "border:1px solid #aaa;min-height:50px;min-width:180px;white-space:pre-wrap" });
    area.textContent = node.value || "";
    set(node, area.textContent);
    area.oninput = () => later(node, () => set(node, area.innerText.replace(/\n$/, "")));
    if (node.labelling === "relation") node.labelling = "own";
    return withLabel(node, area);
  }
  const area = element("textarea", { rows: 3 });
  area.value = node.value || "";
  set(node, area.value);
  area.oninput = () => later(node, () => set(node, area.value));
  return shadowed(node, withLabel(node, area));
}

function combo(node) {
  if (node.kind === "editcombo") {
    const field = element("input", { list: node.id + "-list", value: node.value || "" });
    set(node, field.value);
    field.oninput = () => later(node, () => set(node, field.value));
    const options = element("datalist", { id: node.id + "-list" }, ...node.items.map((item) => element("option", { value: item })));
    return element("div", {}, withLabel(node, field), options);
  }
  const choices = element("select", {}, ...node.items.map((item) => element("option", {}, item)));
  choices.value = node.value;
  set(node, choices.value);
  choices.onchange = () => later(node, () => set(node, choices.value));
  return shadowed(node, withLabel(node, choices));
}

function number(node) {
  const field = element("input", { type: node.kind === "spin" ? "number" : "range", min: 0, max: node.max, value: node.value });
  set(node, Number(field.value));
  field.oninput = () => later(node, () => set(node, Number(field.value)));
  return withLabel(node, field);
}

function check(node) {
  const hidden = (node.habits || {}).custom === "hidden";
  const field = element("input", { type: "checkbox" });
  if (node.kind === "switch") field.setAttribute("role", "switch");
  if (hidden) field.className = "hidden-input";
  field.checked = Boolean(node.value);
  set(node, field.checked);
  field.onchange = () => later(node, () => set(node, field.checked));
  if (node.kind === "switch" && !hidden) return withLabel(node, field);
  return element("label", {}, field, hidden ? element("span", { "aria-hidden": "true" }, "☐ ") : "", node.name);
}

function radio(node) {
  set(node, node.value);
  return element("div", { role: "radiogroup" }, ...node.items.map((item) => {
    const field = element("input", { type: "radio", name: node.id });
    field.checked = item === node.value;
    field.onchange = () => later(node, () => set(node, item));
    return element("label", { style: "display:block" }, field, item);
  }));
}

function question(node) {
  const dialog = element("dialog", {}, element("p", {}, node.name + " was pressed."));
  const close = element("button", {}, "Understood");
  close.onclick = () => { state.dialog = ""; dialog.close(); dialog.remove(); write(); };
  dialog.append(close);
  document.body.append(dialog);
  state.dialog = node.id;
  dialog.showModal();
  write();
}

function button(node) {
  const div = (node.habits || {}).custom === "div";
  const part = element(div ? "div" : "button", div ? { style: "border:1px solid #555;padding:3px;cursor:pointer" } : {});
  if (node.labelling === "tooltip") { part.append(element("span", { "aria-hidden": "true" }, "✎")); part.title = node.name; } else part.textContent = node.name;
  let times = 0;
  part.onclick = () => later(node, () => {
    times++;
    event(node, "clicked");
    const habits = node.habits || {};
    if (habits.rename) part.textContent = `${node.name} (${times})`;
    if (habits.dialog) question(node);
  });
  return shadowed(node, part);
}

function link(node) {
  const part = element("a", { href: "#" + node.id }, node.name);
  part.onclick = () => later(node, () => event(node, "clicked"));
  return part;
}

function menu(node) {
  const items = element("div", { role: "menu" });
  items.hidden = true;
  const part = element("button", { "aria-haspopup": "menu", "aria-expanded": "false" }, node.name);
  part.onclick = () => { items.hidden = !items.hidden; part.setAttribute("aria-expanded", !items.hidden); };
  for (const item of node.items) {
    const choice = element("div", { role: "menuitem", tabindex: "-1" }, item);
    choice.onclick = () => { items.hidden = true; event(node, item); };
    items.append(choice);
  }
  return element("div", {}, part, items);
}

function over(node, part) {
  if (node.labelling === "own") part.setAttribute("aria-label", node.name);
  return node.labelling === "above" ? element("div", {}, element("div", {}, node.name), part) : part;
}

function rows(node) {
  const list = element("ul", { role: "listbox", class: "rows", tabindex: "0" });
  let chosen = "";
  const fill = () => {
    list.replaceChildren(...node.items.map((item) => {
      const row = element("li", { role: "option", "aria-selected": item === chosen }, item);
      row.onclick = () => {
        chosen = item;
        later(node, () => set(node, item));
        if ((node.habits || {}).redraw) setTimeout(fill, 0);
        else [...list.children].forEach((other) => other.setAttribute("aria-selected", other === row));
      };
      return row;
    }));
  };
  fill();
  set(node, "");
  return over(node, list);
}

function table(node) {
  const head = element("tr", {}, ...node.columns.map((title) => element("th", {}, title)));
  const body = node.items.map((item, i) => {
    const row = element("tr", {}, element("td", {}, item), ...node.columns.slice(1).map((title) => element("td", {}, `${title.toLowerCase()} ${i + 1}`)));
    row.onclick = () => {
      [...row.parentNode.children].forEach((other) => other.removeAttribute("aria-selected"));
      row.setAttribute("aria-selected", "true");
      later(node, () => set(node, item));
    };
    return row;
  });
  set(node, "");
  return over(node, element("table", { border: 1 }, head, ...body));
}

const makers = {
  column: box, row: box, grid: box, paned: (n) => element("div", { class: "row" }, ...children(n)), scrolled: (n) => element("div", { class: "scrolled", tabindex: "0" }, ...children(n)),
  frame, notebook, expander, entry, password: entry, readonly: entry, text, combo, editcombo: combo, spin: number, slider: number,
  switch: check, check, radio, button, link, menu, list: rows, table, note: (n) => element("p", {}, n.name),
};

function make(node) {
  const part = makers[node.kind](node);
  if (node.disabled) {
    for (const control of [part, ...part.querySelectorAll("*"), ...(part.shadowRoot ? part.shadowRoot.querySelectorAll("*") : [])]) {
      if ("disabled" in control) control.disabled = true;
    }
    part.classList.add("off");
    part.setAttribute("aria-disabled", "true");
    part.style.pointerEvents = "none";
  }
  return part;
}

fetch("window.json" + location.search).then((r) => r.json()).then((w) => {
  document.title = w.title;
  document.body.append(make(w.root));
  setTimeout(() => { ready = true; write(); }, 300);
});
