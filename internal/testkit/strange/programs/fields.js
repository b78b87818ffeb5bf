// The fields and buttons of a strange window as a page.
"use strict";

function entry(node) {
  const field = element("input", { type: node.kind === "password" ? "password" : "text", value: node.value || "" });
  field.readOnly = node.kind === "readonly";
  if (node.max) field.maxLength = node.max;
  set(node, field.value);
  let asked = false;
  field.oninput = () => {
    if (field.value !== accepted(node, field.value)) field.value = accepted(node, field.value);
    later(node, () => set(node, normal(node, field.value)));
    if (habit(node, "dialog") && !asked) setTimeout(() => question(node), 100);
    asked = true;
  };
  if (habit(node, "normalise")) field.onchange = () => { field.value = normal(node, field.value); };
  if (habit(node, "steal")) field.onfocus = () => setTimeout(() => field.blur(), 50);
  return shadowed(node, withLabel(node, field));
}

function date(node) {
  const field = element("input", { type: "date", value: node.value });
  set(node, field.value);
  field.oninput = () => { if (field.value) later(node, () => set(node, field.value)); };
  return withLabel(node, field);
}

function calendar(node) {
  const days = element("div", { role: "group", class: "grid", style: "grid-template-columns: repeat(7, auto)" });
  set(node, node.value);
  const month = node.value.slice(0, 8);
  for (let day = 1; day <= 28; day++) {
    const button = element("button", { "aria-label": month + String(day).padStart(2, "0") }, day);
    button.onclick = () => set(node, button.getAttribute("aria-label"));
    days.append(button);
  }
  return over(node, days);
}

function text(node) {
  if (habit(node, "custom") === "editable") {
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
  const whole = withLabel(node, field);
  const rename = () => {
    if (!habit(node, "rename")) return;
    const title = `${node.name}: ${field.value}`;
    if (whole === field) field.setAttribute("aria-label", title); else whole.querySelector("label, span").textContent = title;
  };
  rename();
  field.oninput = () => { rename(); later(node, () => set(node, Number(field.value))); };
  return whole;
}

function check(node) {
  const hidden = habit(node, "custom") === "hidden";
  const field = element("input", { type: "checkbox" });
  if (node.kind === "switch") field.setAttribute("role", "switch");
  if (hidden) field.className = "hidden-input";
  field.checked = Boolean(node.value);
  set(node, field.checked);
  const title = element("span", {}, node.name);
  const rename = () => { if (habit(node, "rename")) title.textContent = node.name + (field.checked ? ": on" : ": off"); };
  rename();
  field.onchange = () => { rename(); later(node, () => set(node, field.checked)); };
  if (node.kind === "switch" && !hidden) return withLabel(node, field);
  return element("label", {}, field, hidden ? element("span", { "aria-hidden": "true" }, "☐ ") : "", title);
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

function button(node) {
  const div = habit(node, "custom") === "div";
  const part = element(div ? "div" : "button", div ? { style: "border:1px solid #555;padding:3px;cursor:pointer" } : {});
  if (node.labelling === "tooltip" || node.labelling === "none") part.append(element("span", { "aria-hidden": "true" }, "✎")); else part.textContent = node.name;
  if (node.labelling === "tooltip") part.title = node.name;
  let times = 0;
  part.onclick = () => later(node, () => {
    times++;
    event(node, "clicked");
    if (habit(node, "rename")) part.textContent = `${node.name} (${times})`;
    if (habit(node, "dialog")) question(node);
  });
  return shadowed(node, part);
}

function link(node) {
  const part = element("a", { href: "#" + node.id }, node.name);
  part.onclick = () => later(node, () => event(node, "clicked"));
  return part;
}

function drawn(node) {
  const area = element("canvas", { width: 160, height: 24 * node.items.length });
  const pen = area.getContext("2d");
  node.items.forEach((item, i) => { pen.strokeRect(4, 24 * i + 2, 150, 20); pen.fillText(item, 10, 24 * i + 16); });
  area.onclick = (e) => { const item = node.items[Math.floor(e.offsetY / 24)]; if (item) event(node, item); };
  return area;
}

Object.assign(makers, {
  entry, password: entry, readonly: entry, text, date, calendar, combo, editcombo: combo, spin: number, slider: number, switch: check, check, radio,
  button, link, drawn, note: (node) => element("p", {}, node.name),
});
