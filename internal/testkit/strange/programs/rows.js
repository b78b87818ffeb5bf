// The lists, tables, trees and menus of a strange window as a page.
"use strict";

// popup returns a menu of the items; chosen is called with the item.
function popup(items, chosen) {
  const menu = element("div", { role: "menu", class: "menu" });
  menu.hidden = true;
  for (const item of items) {
    const choice = element("div", { role: "menuitem", tabindex: "-1" }, item);
    choice.onclick = () => { menu.hidden = true; chosen(item); };
    menu.append(choice);
  }
  return menu;
}

function menuButton(node, title, items) {
  const menu = popup(items, (item) => { part.setAttribute("aria-expanded", "false"); event(node, item); });
  const part = element("button", { "aria-haspopup": "menu", "aria-expanded": "false" }, title);
  part.onclick = () => { menu.hidden = !menu.hidden; part.setAttribute("aria-expanded", !menu.hidden); };
  return element("div", {}, part, menu);
}

function menuBar(node) {
  const bar = element("div", { role: "menubar", class: "menubar" });
  node.items.forEach((title, i) => {
    const menu = popup(node.leaves[i], (item) => event(node, item));
    const top = element("div", { role: "menuitem", tabindex: "0", "aria-haspopup": "menu" }, title);
    top.onclick = () => { menu.hidden = !menu.hidden; };
    bar.append(element("div", { role: "none" }, top, menu));
  });
  return bar;
}

function rows(node) {
  const list = element("ul", { role: "listbox", class: "rows", tabindex: "0" });
  let chosen = "";
  const row = (item) => {
    const part = element("li", { role: "option", "aria-selected": item === chosen }, item);
    part.onclick = () => {
      chosen = item;
      later(node, () => set(node, item));
      if (habit(node, "redraw")) setTimeout(fill, 0); else fill.mark();
    };
    part.oncontextmenu = (e) => {
      if (!node.choices) return;
      e.preventDefault();
      set(node, item, "menu");
      const menu = popup(node.choices, (choice) => { event(node, `${item}: ${choice}`); menu.remove(); });
      menu.hidden = false;
      menu.style.left = e.pageX + "px";
      menu.style.top = e.pageY + "px";
      list.ownerDocument.body.append(menu);
    };
    return part;
  };
  const fill = habit(node, "recycle") ? virtual(node, list, row) : () => list.replaceChildren(...node.items.map(row));
  fill.mark = () => [...list.querySelectorAll("li")].forEach((other) => other.setAttribute("aria-selected", other.textContent === chosen));
  fill();
  set(node, "");
  return over(node, list);
}

// virtual returns a function that fills the list with the rows in view alone.
function virtual(node, list, row) {
  const space = element("div", { role: "none", style: `height: ${20 * node.items.length}px` });
  list.append(space);
  const fill = () => {
    const first = Math.max(0, Math.floor(list.scrollTop / 20) - 1);
    space.replaceChildren(...node.items.slice(first, first + 8).map((item, i) => {
      const part = row(item);
      part.className = "row-at";
      part.style.top = 20 * (first + i) + "px";
      part.setAttribute("aria-posinset", first + i + 1);
      part.setAttribute("aria-setsize", node.items.length);
      return part;
    }));
  };
  list.onscroll = fill;
  return fill;
}

function checkList(node) {
  return over(node, element("ul", { class: "rows" }, ...node.items.map((item, i) => {
    const field = element("input", { type: "checkbox" });
    set(node, false, i);
    field.onchange = () => later(node, () => set(node, field.checked, i));
    return element("li", {}, element("label", {}, field, item));
  })));
}

function table(node) {
  const sheet = node.kind === "sheet";
  const head = element("tr", {}, ...node.columns.map((title) => element("th", {}, title)));
  const body = node.items.map((item, i) => {
    const row = element("tr", {}, ...node.columns.map((_, j) => {
      const part = element("td", sheet && j ? { contenteditable: "true" } : {}, cell(node, i, j));
      part.oninput = () => set(node, part.innerText.trim(), `${i}/${j}`);
      return part;
    }));
    if (!sheet) row.onclick = () => {
      [...row.parentNode.children].forEach((other) => other.removeAttribute("aria-selected"));
      row.setAttribute("aria-selected", "true");
      later(node, () => set(node, item));
    };
    return row;
  });
  if (!sheet) set(node, "");
  return over(node, element("table", { border: 1 }, head, ...body));
}

function tree(node) {
  const root = element("ul", { role: "tree", class: "tree" });
  set(node, "");
  const choose = (part, item) => {
    root.querySelectorAll("[role=treeitem]").forEach((other) => other.setAttribute("aria-selected", other === part));
    later(node, () => set(node, item));
  };
  node.items.forEach((title, i) => {
    const below = element("ul", { role: "group" });
    below.hidden = true;
    const top = element("li", { role: "treeitem", "aria-expanded": "false", tabindex: "0" }, title, below);
    top.onclick = () => { below.hidden = !below.hidden; top.setAttribute("aria-expanded", !below.hidden); set(node, !below.hidden, i); };
    for (const leaf of node.leaves[i]) {
      const part = element("li", { role: "treeitem", tabindex: "-1" }, leaf);
      part.onclick = (e) => { e.stopPropagation(); choose(part, leaf); };
      below.append(part);
    }
    set(node, false, i);
    root.append(top);
  });
  return over(node, root);
}

Object.assign(makers, { menu: (node) => menuButton(node, node.name, node.items), menubar: menuBar, list: rows, checklist: checkList, table, sheet: table, tree });
