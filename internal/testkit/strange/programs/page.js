// A strange window as a page: its containers, and the change from one window to the next.
"use strict";

function children(node) { return (node.children || []).map(make); }

function box(node) {
  const part = element("div", { class: node.kind }, ...children(node));
  (node.places || []).forEach((place, i) => { part.children[i].style.order = place; });
  if (node.kind === "toolbar") part.setAttribute("role", "toolbar");
  if (node.kind === "scrolled") part.tabIndex = 0;
  return part;
}

function frame(node) { return shadowed(node, element("fieldset", {}, element("legend", {}, node.name), ...children(node))); }

// paged returns the pages of the node and a function that shows one.
function paged(node, role) {
  const pages = children(node).map((child) => element("div", role ? { role } : {}, child));
  const show = (n) => {
    pages.forEach((page, i) => { page.hidden = i !== n; });
    set(node, n);
  };
  show(0);
  return [pages, show];
}

function notebook(node) {
  const [pages, show] = paged(node, "tabpanel");
  const tabs = element("div", { role: "tablist" });
  const mark = (n) => [...tabs.children].forEach((tab, i) => tab.setAttribute("aria-selected", i === n));
  node.items.forEach((title, i) => {
    const tab = element("button", { role: "tab" }, title);
    tab.onclick = () => { show(i); mark(i); };
    tabs.append(tab);
  });
  mark(0);
  return element("div", {}, tabs, ...pages);
}

// stack shows a page for each link, and makes it anew, as the routes of a single-page application.
function stack(node) {
  const outlet = element("div", {});
  const show = (n) => { outlet.replaceChildren(made[n]); set(node, n); };
  const made = children(node);
  const links = node.items.map((title, i) => {
    const part = element("a", { href: `/${node.id}/${i}?window=${windowName}` }, title);
    part.onclick = (e) => { e.preventDefault(); history.pushState({}, "", part.href); show(i); };
    return part;
  });
  show(0);
  return element("div", {}, element("nav", { class: "row" }, ...links), outlet);
}

function wizard(node) {
  const [pages, show] = paged(node);
  let now = 0;
  const go = (step) => { now = Math.max(0, Math.min(now + step, pages.length - 1)); show(now); };
  const buttons = [["Back", -1], ["Next", 1]].map(([title, step]) => {
    const part = element("button", {}, title);
    part.onclick = () => go(step);
    return part;
  });
  return element("div", {}, ...pages, ...buttons);
}

function expander(node) {
  const part = element("details", node.value ? { open: "" } : {}, element("summary", {}, node.name), ...children(node));
  set(node, part.open);
  part.ontoggle = () => set(node, part.open);
  return part;
}

function popover(node) {
  const part = element("button", { "aria-expanded": "false" }, node.name);
  const front = element("div", { class: "front" }, ...children(node));
  const show = (open) => { front.hidden = !open; part.setAttribute("aria-expanded", open); set(node, open); };
  part.onclick = () => show(front.hidden);
  document.addEventListener("keydown", (e) => { if (e.key === "Escape" && !front.hidden) show(false); });
  show(false);
  return element("div", {}, part, front);
}

function dialog(node) {
  const part = element("button", {}, node.name);
  const close = element("button", {}, "Dismiss");
  const front = element("dialog", { "aria-label": "Details" }, ...children(node), close);
  part.onclick = () => { if (node.modal) front.showModal(); else front.show(); set(node, true); };
  close.onclick = () => front.close();
  front.onclose = () => set(node, false);
  set(node, false);
  return element("div", {}, part, front);
}

// inFrame returns a frame with the node's contents, which has the same origin.
function inFrame(node) {
  const part = element("iframe", { title: "Frame" });
  const inner = children(node);
  part.onload = () => {
    const page = part.contentDocument;
    page.head.append(element("link", { rel: "stylesheet", href: "/page.css" }));
    page.body.append(...inner);
  };
  part.src = "/frame.html";
  return part;
}

Object.assign(makers, {
  column: box, row: box, grid: box, paned: box, scrolled: box, toolbar: box, frame, notebook, stack, wizard, expander, popover, dialog, iframe: inFrame,
});

// follow waits for the next window and shows it.
function follow() {
  fetch("/next?window=" + windowName).then((r) => r.text()).then((next) => { location.replace("/page.html?window=" + next); }).catch(() => setTimeout(follow, 200));
}

if (windowName) {
  fetch("/window.json?window=" + windowName).then((r) => r.json()).then((w) => {
    document.title = w.title;
    if (w.rtl) document.documentElement.dir = "rtl";
    document.body.append(element("main", {}, make(w.root)));
    if (w.status) {
      const line = element("footer", {}, "0 events");
      document.body.append(line);
      counted = (events) => { line.textContent = events + " events"; };
    }
    setTimeout(() => { ready = true; write(); }, 250);
  });
}
follow();
