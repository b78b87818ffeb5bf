// Acts on elements, in the same function as read.js. Each returns an object with an error, or the data that the gateway
// needs to go on.
const describe = e => {
  const role = roleOf(e) || e.tagName.toLowerCase();
  return {role, name: squeeze(nameOf(e, role) || textOf(e)).slice(0, 80)};
};
function hitAt(x, y) {
  let hit = document.elementFromPoint(x, y);
  while (hit && shadowOf(hit)) {
    const inner = shadowOf(hit).elementFromPoint(x, y);
    if (!inner || inner === hit) break;
    hit = inner;
  }
  return hit;
}
const parentOf = n => n.assignedSlot ?? n.parentNode ?? n.host;
const within = (n, e) => { for (; n; n = n.nodeType === 11 ? n.host : parentOf(n)) if (n === e) return true; return false; };
// A text in a slot is met as its host.
const isSlotted = (hit, e) => hit === e.getRootNode().host && !!e.querySelector("slot");
const belongs = (hit, e) => within(hit, e) || isSlotted(hit, e) || [...e.labels ?? []].some(l => within(hit, l)) || hit.contains(e) && getComputedStyle(e).pointerEvents === "none";

function point(id) {
  let e = nodeOf(id);
  if (!e) return {error: "stale"};
  if (e.nodeType === 3) e = e.parentElement ?? parentOf(e);
  if (isDisabled(e)) return {error: "disabled"};
  const spots = [e, ...e.labels ?? []];
  let cover = null;
  for (const spot of spots) {
    const before = spot.getBoundingClientRect();
    if (before.top < 0 || before.left < 0 || before.bottom > innerHeight || before.right > innerWidth || !belongs(hitAt(before.left + before.width / 2, before.top + before.height / 2) ?? document, e)) {
      spot.scrollIntoViewIfNeeded ? spot.scrollIntoViewIfNeeded() : spot.scrollIntoView({block: "nearest", behavior: "instant"});
    }
    for (const r of spot.getClientRects()) {
      const c = cutRect(view(), r), w = c.r - c.l, h = c.b - c.t;
      if (w <= 0 || h <= 0) continue;
      for (const [fx, fy] of [[.5, .5], [.25, .5], [.75, .5], [.5, .2], [.5, .8]]) {
        const x = c.l + w * fx, y = c.t + h * fy, hit = hitAt(x, y);
        if (hit && belongs(hit, e)) return {x, y};
        cover ??= hit;
      }
    }
  }
  return cover ? {error: "covered", cover: describe(cover)} : {error: "unseen"};
}
// Converts a point of a frame to one of this document, and checks that a pointer there meets the frame's element.
function meets(id, x, y) {
  const e = nodeOf(id);
  if (!e) return {error: "stale"};
  const at = () => { const r = e.getBoundingClientRect(); return {x: r.left + e.clientLeft + x, y: r.top + e.clientTop + y}; };
  let p = at();
  if (p.x < 0 || p.y < 0 || p.x >= innerWidth || p.y >= innerHeight) {
    e.scrollIntoView({block: "nearest", inline: "nearest", behavior: "instant"});
    p = at();
  }
  const hit = hitAt(p.x, p.y);
  if (!hit) return {error: "unseen"};
  return hit === e ? p : {error: "covered", cover: describe(hit)};
}
function reveal(id) {
  let e = nodeOf(id);
  if (!e) return {error: "stale"};
  if (e.nodeType === 3) e = e.parentElement;
  e.scrollIntoView({block: "center", inline: "nearest", behavior: "instant"});
  return {};
}
function focus(id) {
  const e = nodeOf(id);
  if (!e || e.nodeType !== 1) return {error: "stale"};
  e.focus({preventScroll: false});
  return activeIn(document) === e ? {} : {error: "unfocused"};
}
// Prepares a field for text: focus, and selection of its content or the caret at its end.
function prepare(id, replace) {
  const e = nodeOf(id);
  if (!e || e.nodeType !== 1) return {error: "stale"};
  if (isDisabled(e)) return {error: "disabled"};
  if (e.readOnly || isTrue(e, "aria-readonly")) return {error: "readonly"};
  if (!isPlainField(e) && !e.isContentEditable) return {error: e.tagName === "INPUT" && (DATES.has(e.type) || e.type === "range" || e.type === "color") ? "set" : "unsupported"};
  const was = activeIn(document) === e;
  if (focus(id).error) return {error: "unfocused"};
  if (isPlainField(e)) {
    if (replace) e.select();
    else if (!was && e.selectionStart !== null) e.setSelectionRange(e.value.length, e.value.length);
    return {empty: e.value === "", lines: e.tagName === "TEXTAREA"};
  }
  const selection = e.ownerDocument.getSelection(), range = document.createRange();
  range.selectNodeContents(e);
  if (!replace) range.collapse(false);
  if (replace || !was) { selection.removeAllRanges(); selection.addRange(range); }
  return {empty: e.innerText.trim() === "", lines: true, rich: true};
}
function focused(id) { const e = nodeOf(id); return e ? {focused: activeIn(document) === e} : {error: "stale"}; }
// A date as the field shows it, such as 12/25/2026, in the notation of its value.
function dateText(e, text) {
  const numbers = e.type === "date" && text.match(/^\s*(\d{1,4})\D+(\d{1,2})\D+(\d{1,4})\s*$/);
  if (!numbers || numbers[1].length === 4) return text;
  const order = new Intl.DateTimeFormat(navigator.language).formatToParts().map(p => p.type).filter(type => ["year", "month", "day"].includes(type));
  const of = Object.fromEntries(order.map((type, i) => [type, numbers[i + 1]]));
  return of.year.length === 4 ? `${of.year}-${of.month.padStart(2, "0")}-${of.day.padStart(2, "0")}` : text;
}
// The page hears of a text that was set as a whole, as after a person has left the field.
function settle(id) {
  const e = nodeOf(id);
  if (e && isPlainField(e)) fire(e, "change");
  return {};
}
const fire = (e, ...kinds) => kinds.forEach(kind => e.dispatchEvent(new Event(kind, {bubbles: true, composed: kind === "input"})));
function set(id, value) {
  const e = nodeOf(id);
  if (!e || e.nodeType !== 1) return {error: "stale"};
  if (isDisabled(e)) return {error: "disabled"};
  if (e.readOnly) return {error: "readonly"};
  if (e.tagName !== "INPUT") return {error: "unsupported"};
  const before = e.value;
  e.focus({preventScroll: false});
  e.value = value = dateText(e, value);
  const beyond = e.validity.rangeOverflow || e.validity.rangeUnderflow;
  if (value !== "" && (e.value === "" || beyond) && e.type !== "range") { e.value = before; return {error: "format", kind: e.type}; }
  fire(e, "input", "change");
  return {};
}
function choose(id, also) {
  const o = nodeOf(id);
  if (!o || o.nodeType !== 1) return {error: "stale"};
  const select = o.tagName === "OPTION" && o.closest("select");
  if (!select) return {error: "unsupported"};
  if (isDisabled(o) || isDisabled(select)) return {error: "disabled"};
  select.focus({preventScroll: false});
  if (also && select.multiple) o.selected = true;
  else for (const one of select.options) if (one.selected !== (one === o) && (select.multiple || one === o)) one.selected = one === o;
  fire(select, "input", "change");
  return {};
}
const node = id => nodeOf(Math.abs(id));
function isNow(id, name) {
  const e = nodeOf(id);
  return e && (e.nodeType === 3 ? squeeze(e.data) : nameOf(e, roleOf(e)) || wordsBefore(e) || squeeze(textOf(e)).slice(0, 200)) === name ? {} : {error: "stale"};
}
function mark(e) {
  if (e.nodeType === 1) clickable.add(e);
  for (let root = e.getRootNode(); root.host; root = root.host.getRootNode()) closed.set(root.host, root);
  note();
}

function isFileField(id) {
  const e = nodeOf(id);
  if (!e) return {error: "stale"};
  if (e.nodeType !== 1 || e.tagName !== "INPUT" || e.type !== "file") return {error: "unsupported"};
  return isDisabled(e) ? {error: "disabled"} : {};
}
// Calls an act, unless the window shows another tab.
const acts = {point, meets, reveal, focus, prepare, focused, set, settle, choose, isNow, isFileField};
const act = (kind, ...args) => JSON.stringify(isVisible() ? acts[kind](...args) : {error: "hidden"});

return globalThis[Symbol.for("aai.reader")] = {token, read, one, changed, act, node, idOf, mark, isVisible};
