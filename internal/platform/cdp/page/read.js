// Reads a document. It runs in an isolated world of a frame, which the page's scripts cannot reach, as the body of a
// function that also has act.js. S has the bits of the states by their words.
if (globalThis[Symbol.for("aai.reader")]) return globalThis[Symbol.for("aai.reader")];

const token = Array.from(crypto.getRandomValues(new Uint8Array(6)), b => b.toString(16).padStart(2, "0")).join("");
const ids = new WeakMap(), nodes = new Map(), gone = new FinalizationRegistry(id => nodes.delete(id));
const secrets = new Map(); // fields that are or were for passwords, by their numbers
const clickable = new WeakSet(); // elements with a listener for clicks, as the browser reports them
let last = 0;

function idOf(node) {
  let id = ids.get(node);
  if (!id) {
    ids.set(node, id = ++last);
    nodes.set(id, new WeakRef(node));
    gone.register(node, id);
  }
  return id;
}
function nodeOf(id) {
  const node = nodes.get(id)?.deref();
  return node?.isConnected ? node : null;
}

const closed = new WeakMap(); // closed shadow roots, as the browser reports them, by their hosts
const shadowOf = e => e.shadowRoot ?? closed.get(e);

const squeeze = text => text.replace(/\s+/g, " ").trim();
const attr = (e, key) => e.getAttribute(key) ?? "";
const isTrue = (e, key) => e.getAttribute(key) === "true";

// Roles of ARIA whose role in the tree has another name.
const ROLES = {
  alert: "status", log: "status", timer: "status", marquee: "status", status: "status", img: "image", gridcell: "cell", treegrid: "grid", complementary: "region",
  directory: "list", feed: "list", radiogroup: "group", presentation: "", none: "", generic: "", rowgroup: "", math: "group", note: "group",
  term: "group", definition: "group", application: "group", caption: "", document: "group", text: "text",
};
const KNOWN = new Set(("button checkbox radio switch searchbox banner main navigation contentinfo search textbox spinbutton slider scrollbar progressbar meter combobox link menubar menu menuitem " +
  "menuitemcheckbox menuitemradio tablist tab tabpanel list listitem listbox option tree treeitem table grid row cell columnheader rowheader " +
  "heading paragraph article blockquote code figure form region group toolbar separator dialog alertdialog tooltip").split(" "));
const TAGS = {
  BUTTON: "button", SUMMARY: "button", TEXTAREA: "textbox", UL: "list", OL: "list", MENU: "list", DL: "list", LI: "listitem", TABLE: "table", TR: "row",
  TD: "cell", H1: "heading", H2: "heading", H3: "heading", H4: "heading", H5: "heading", H6: "heading", P: "paragraph", FORM: "form",
  NAV: "navigation", MAIN: "main", ASIDE: "region", SEARCH: "search", ARTICLE: "article", BLOCKQUOTE: "blockquote", FIGURE: "figure", FIELDSET: "group",
  HR: "separator", DIALOG: "dialog", PROGRESS: "progressbar", METER: "meter", OUTPUT: "status", LABEL: "label", LEGEND: "label", CANVAS: "canvas",
  IMG: "image", IFRAME: "group", FRAME: "group", VIDEO: "group", AUDIO: "group", OPTION: "option",
};
const INPUTS = {
  button: "button", submit: "button", reset: "button", image: "button", file: "button", color: "button", checkbox: "checkbox", radio: "radio",
  range: "slider", number: "spinbutton", hidden: "",
};
const BY_CONTENT = new Set(("button checkbox radio switch link menuitem menuitemcheckbox menuitemradio tab option treeitem cell columnheader rowheader heading " +
  "paragraph tooltip label").split(" "));
const LEAVES = new Set("checkbox radio switch menuitemcheckbox menuitemradio slider spinbutton scrollbar progressbar meter separator image canvas".split(" "));
const CONTROLS = new Set(("button checkbox radio switch textbox searchbox spinbutton slider combobox link menuitem menuitemcheckbox menuitemradio tab option treeitem").split(" "));

function roleOf(e) {
  for (const role of attr(e, "role").toLowerCase().split(/\s+/)) {
    if (role in ROLES) return ROLES[role];
    if (KNOWN.has(role)) return role;
  }
  const tag = e.tagName.toUpperCase();
  switch (tag) {
  case "A": case "AREA": return e.hasAttribute("href") ? "link" : "";
  case "INPUT": return e.list ? "combobox" : INPUTS[e.type] ?? "textbox";
  case "SELECT": return e.multiple || e.size > 1 ? "listbox" : "combobox";
  case "TH": return attr(e, "scope").startsWith("row") ? "rowheader" : "columnheader";
  case "SECTION": return label(e) ? "region" : "";
  case "HEADER": return e.closest("article, aside, main, nav, section") ? "" : "banner";
  case "FOOTER": return e.closest("article, aside, main, nav, section") ? "" : "contentinfo";
  case "SVG": return attr(e, "aria-label") || e.querySelector(":scope > title") ? "image" : "";
  case "SUMMARY": return e.parentElement?.tagName === "DETAILS" ? "button" : "";
  }
  if (TAGS[tag] !== undefined) return TAGS[tag];
  return isEditor(e) ? "group" : "";
}

// Reports whether a field is or was for a password: by its type, its dots, what the browser fills in, or the value of another one.
// A field without dots has them no longer, or its page shows the password in a second field.
function isPassword(e) {
  if (e.tagName !== "INPUT") return false;
  if (secrets.has(idOf(e))) return true;
  if (e.type !== "password" && !/\b(current|new)-password\b/.test(attr(e, "autocomplete")) && getComputedStyle(e).webkitTextSecurity === "none")
    return isPlainField(e) && e.value.length > 3 && isPasswordText(e.value);
  secrets.set(idOf(e), new WeakRef(e));
  return true;
}
function isPasswordText(text) {
  for (const [id, ref] of secrets) {
    const field = ref.deref();
    if (!field) secrets.delete(id);
    else if (field.value === text) return true;
  }
  return false;
}
const DATES = new Set(["date", "time", "datetime-local", "month", "week"]);
const isPlainField = e => e.tagName === "TEXTAREA" || e.tagName === "INPUT" && !(e.type in INPUTS && e.type !== "number") && !DATES.has(e.type);
const isEditor = e => (e.hasAttribute("contenteditable") || e === document.body) && e.isContentEditable;
// Reports whether nothing but the kind of an element decides what it is: its attributes are for looks alone.
const FORM = new Set("INPUT TEXTAREA SELECT BUTTON OPTION FIELDSET OUTPUT A AREA SUMMARY DETAILS DIALOG IFRAME FRAME OBJECT EMBED IMG svg SVG LABEL CANVAS PROGRESS METER".split(" "));
function isBare(e) {
  if (FORM.has(e.tagName)) return false;
  for (const {name} of e.attributes) if (name !== "class" && name !== "style" && name !== "id" && !name.startsWith("data-")) return false;
  return true;
}

// The text of an element as its name: of what shows in it, with the names of pictures and the values of fields.
function textOf(e, deep = 0) {
  if (!e.firstElementChild && !shadowOf(e) && e.tagName !== "SLOT") return e.textContent.slice(0, 2000);
  let out = "";
  for (const c of childrenOf(e)) {
    if (out.length > 2000 || deep > 40) break;
    if (c.nodeType === 3) { out += c.data; continue; }
    if (c.nodeType !== 1 || isTrue(c, "aria-hidden")) continue;
    const tag = c.tagName.toUpperCase();
    if (tag === "SCRIPT" || tag === "STYLE" || tag === "NOSCRIPT" || tag === "TEMPLATE") continue;
    if (tag === "BR") { out += " "; continue; }
    const style = getComputedStyle(c);
    if (style.display === "none" || style.visibility !== "visible") continue;
    const own = label(c);
    const text = own || (tag === "IMG" ? attr(c, "alt") : tag === "INPUT" && isPlainField(c) && !isPassword(c) ? c.value :
      tag === "SELECT" ? c.selectedOptions?.[0]?.label ?? "" : tag === "TEXTAREA" ? c.value : textOf(c, deep + 1));
    const gap = style.display.startsWith("inline") || style.display === "contents" ? "" : " ";
    out += gap + text + gap;
  }
  return out;
}
const byIds = (e, key) => squeeze(attr(e, key).split(/\s+/).map(id => id && e.getRootNode().getElementById?.(id))
  .filter(Boolean).map(other => label(other, true) || (other.tagName === "INPUT" && !isPassword(other) ? other.value : textOf(other))).join(" "));
function label(e, referenced) {
  if (!referenced && e.hasAttribute("aria-labelledby")) {
    const text = byIds(e, "aria-labelledby");
    if (text) return text;
  }
  return squeeze(attr(e, "aria-label"));
}

function nameOf(e, role, bare) {
  const own = bare ? "" : label(e), tag = e.tagName.toUpperCase();
  if (tag === "INPUT" && e.type === "file") {
    const files = [...e.files].map(f => f.name).join(", ") || "No file chosen";
    return (own || labels(e) ? (own || labels(e)) + ": " : "") + files;
  }
  if (own) return own;
  const native = bare ? "" : labels(e);
  if (native) return native;
  switch (tag) {
  case "INPUT":
    if (e.type === "image") return squeeze(attr(e, "alt") || attr(e, "value") || e.title || "Submit");
    if (["button", "submit", "reset"].includes(e.type) && (e.value || e.type !== "button")) return squeeze(e.value) || (e.type === "submit" ? "Submit" : "Reset");
    return squeeze(e.title || attr(e, "placeholder") || attr(e, "aria-placeholder"));
  case "TEXTAREA": return squeeze(e.title || attr(e, "placeholder"));
  case "IMG": case "AREA": return squeeze(attr(e, "alt") || e.title);
  case "FIELDSET": return squeeze(e.querySelector(":scope > legend")?.textContent || e.title);
  case "TABLE": return squeeze(e.caption?.textContent || e.title);
  case "FIGURE": return squeeze(e.querySelector(":scope > figcaption")?.textContent || e.title);
  case "SVG": return squeeze(e.querySelector(":scope > title")?.textContent ?? "");
  case "OPTION": return squeeze(e.label);
  case "LABEL": return squeeze(wordsOfLabel(e));
  }
  if (BY_CONTENT.has(role)) {
    const text = squeeze(textOf(e));
    if (text) return text;
  }
  return squeeze(attr(e, "title") || attr(e, "aria-placeholder"));
}
// A label is named by its words, not by the values of the fields in it.
const wordsOfLabel = l => l.control && l.contains(l.control) ? ownLabel(l, l.control) : textOf(l);
const labels = e => e.labels?.length ? squeeze([...e.labels].map(l => textOf(l).trim() && ownLabel(l, e)).join(" ")) : "";
// A label around its field says the text without the field's value.
function ownLabel(l, field) {
  if (!l.contains(field)) return textOf(l);
  let out = "";
  for (const c of childrenOf(l)) {
    if (c.nodeType === 3) out += c.data;
    else if (c.nodeType === 1 && c !== field) out += " " + (c.contains(field) ? ownLabel(c, field) : textOf({__proto__: null, one: c}.one));
  }
  return out;
}
// The words right before a field without a name, if no other field stands between.
const FIELDS = "input, select, textarea, button, legend, [contenteditable], [role]";
function wordsBefore(e) {
  for (let n = e, up = 0; up < 3; up++) {
    for (let p = n.previousSibling; p; p = p.previousSibling) {
      if (p.nodeType === 1 && (p.matches(FIELDS) || p.querySelector(FIELDS))) return "";
      const words = p.nodeType === 3 ? squeeze(p.data) : p.nodeType === 1 ? squeeze(textOf(p)) : "";
      if (words) return words.length < 80 ? words : "";
    }
    const parent = n.parentElement;
    if (!parent || parent.tagName !== "TD" && (parent.tagName === "FIELDSET" || parent.children.length > 1 || squeeze(parent.textContent))) return "";
    n = parent;
  }
  return "";
}
// What tells an element without any text: the file of its picture and its class.
function signOf(e) {
  const plain = word => /^[\w.,()+*'!-]+$/.test(word) && word.length < 48;
  const source = e.getAttribute("src") ?? e.querySelector("img[src]")?.getAttribute("src") ?? "";
  const file = source.startsWith("data:") ? "" : source.split("?")[0].split("/").pop();
  let sign = file.includes(".") && plain(file) ? file : "", kinds = "";
  for (const word of attr(e, "class").split(/\s+/)) if (plain(word) && (sign + kinds + word).length < 48) kinds += "." + word;
  return squeeze(sign + " " + kinds) || "<" + e.tagName.toLowerCase() + ">";
}
function descriptionOf(e, name) {
  const text = byIds(e, "aria-describedby") || squeeze(attr(e, "aria-description")) || squeeze(attr(e, "title")) || (e.tagName === "CANVAS" ? squeeze(e.textContent).slice(0, 200) : "");
  return text === name ? "" : text;
}

function valueOf(e, role, whole) {
  const tag = e.tagName;
  const cut = text => whole ? text : text.slice(0, 500);
  if (isPassword(e)) return "";
  if (tag === "TEXTAREA") return cut(e.value);
  if (tag === "INPUT") return role === "button" ? e.type === "color" ? e.value : "" : role === "checkbox" || role === "radio" ? "" : cut(e.value);
  if (tag === "SELECT") return role === "combobox" ? squeeze(e.selectedOptions[0]?.label ?? "") : "";
  if (tag === "PROGRESS") return e.hasAttribute("value") ? String(e.value) : "";
  if (tag === "METER") return String(e.value);
  if (isEditor(e)) return cut(e.innerText.replace(/\n$/, ""));
  if (role === "textbox" || role === "searchbox") return cut(e.innerText);
  if (e.hasAttribute("aria-valuenow") || e.hasAttribute("aria-valuetext")) {
    return role === "spinbutton" || role === "slider" || role === "scrollbar" || role === "progressbar" || role === "meter" ? attr(e, "aria-valuenow") || attr(e, "aria-valuetext") : "";
  }
  if (role !== "combobox" || e.querySelector("input")) return "";
  const chosen = e.querySelector("[role=option][aria-selected=true]");
  return squeeze(textOf(chosen ?? e)).slice(0, 500);
}
const levelOf = e => Number(attr(e, "aria-level")) || Number(/^H[1-6]$/.test(e.tagName) && e.tagName[1]) || 0;
// The numbers of a heading are its level.
const numbersOf = (e, role) => role === "heading" ? [0, levelOf(e)] : role !== "slider" && role !== "spinbutton" && role !== "scrollbar" && role !== "progressbar" && role !== "meter" ? [0, 0] :
  [e.min, e.max].map((v, i) => Number(v !== undefined && v !== "" ? v : attr(e, i ? "aria-valuemax" : "aria-valuemin") ||
    (i && e.tagName === "INPUT" && e.type === "range" ? 100 : i && e.tagName === "PROGRESS" ? e.max : 0)) || 0);

const isDisabled = e => e.matches(":disabled") || !!e.closest("[aria-disabled=true]");
function activeIn(root) {
  let e = root.activeElement;
  while (e && shadowOf(e)?.activeElement) e = shadowOf(e).activeElement;
  return e;
}

function statesOf(e, role, active) {
  let s = 0;
  const has = key => e.hasAttribute(key);
  const off = isDisabled(e);
  if (!off) s |= S.enabled;
  if (!off && (e.tabIndex >= 0 || has("tabindex") || isEditor(e))) s |= S.focusable;
  if (e === active) s |= S.focused;
  const tag = e.tagName, field = isPlainField(e) && tag !== "SELECT";
  if (field || DATES.has(e.type) && tag === "INPUT") {
    if (e.readOnly) s |= S.readonly;
    else if (!off) s |= S.editable;
    if (tag === "TEXTAREA") s |= S.multiline;
    if (isPassword(e)) s |= S.password;
  } else if (isEditor(e) && !off) {
    s |= S.editable;
    if (role === "textbox" && attr(e, "aria-multiline") !== "false") s |= S.multiline;
  } else if (role === "textbox" || role === "searchbox") s |= S.readonly;
  if (isTrue(e, "aria-readonly")) s = s & ~S.editable | S.readonly;
  if (role === "checkbox" || role === "radio" || role === "menuitemcheckbox" || role === "menuitemradio" || attr(e, "role") === "switch" || has("aria-pressed")) {
    s |= S.checkable;
    const aria = attr(e, "aria-checked") || attr(e, "aria-pressed");
    if (e.indeterminate || aria === "mixed") s |= S.mixed;
    else if (tag === "INPUT" ? e.checked : aria === "true") s |= role === "button" || role === "switch" ? S.checked | S.pressed : S.checked;
  }
  if (tag === "OPTION") {
    s |= off ? 0 : S.selectable | S.focusable;
    if (e.selected) s |= S.selected;
  } else if (has("aria-selected")) s |= S.selectable | (isTrue(e, "aria-selected") ? S.selected : 0);
  else if (has("aria-checked") && role === "option") s |= S.selectable | (isTrue(e, "aria-checked") ? S.selected : 0);
  if (tag === "SUMMARY") s |= S.expandable | (e.parentElement.open ? S.expanded : 0);
  else if (tag === "SELECT" && role === "combobox") s |= S.expandable | S.haspopup;
  else if (has("aria-expanded")) s |= S.expandable | (isTrue(e, "aria-expanded") ? S.expanded : 0);
  const popup = attr(e, "aria-haspopup");
  if (popup && popup !== "false" || role === "combobox") s |= S.haspopup;
  if (e.required || isTrue(e, "aria-required")) s |= S.required;
  if (has("aria-invalid") && attr(e, "aria-invalid") !== "false" || e.matches(":user-invalid")) s |= S.invalid;
  if (isTrue(e, "aria-busy")) s |= S.busy;
  if (isTrue(e, "aria-modal") || tag === "DIALOG" && e.matches(":modal")) s |= S.modal;
  if (e.multiple && tag === "SELECT" || isTrue(e, "aria-multiselectable")) s |= S.multiselectable;
  if (attr(e, "aria-orientation") === "vertical" || role === "listbox") s |= S.vertical;
  return s;
}

function actionOf(e, role, s, style, pointerAbove) {
  if (!(s & S.enabled)) return "";
  switch (role) {
  case "link": return "jump";
  case "textbox": case "searchbox": case "spinbutton": return "activate";
  case "combobox": return "open";
  case "checkbox": case "radio": case "menuitemcheckbox": case "menuitemradio": return s & S.checked ? "uncheck" : "check";
  case "option": return "select";
  }
  if (CONTROLS.has(role)) return "press";
  if (isEditor(e)) return "activate";
  if (clickable.has(e) || e.hasAttribute("onclick") || !pointerAbove && style.cursor === "pointer") return e.tagName === "LABEL" || e === document.body ? "" : "click";
  return "";
}

function childrenOf(e) {
  const root = shadowOf(e);
  if (root) return root.childNodes;
  if (e.tagName === "SLOT") {
    const given = e.assignedNodes({flatten: true});
    if (given.length) return given;
  }
  return e.childNodes;
}

// A reading is used again if nothing says that the document has changed since: no event, and none of the properties that
// scripts change without one.
let changesRead = -1, seen = "", shadows = [];
function signature() {
  const of = [document.URL, document.readyState, document.visibilityState, document.hasFocus(), innerWidth, innerHeight, devicePixelRatio, scrollX, scrollY];
  for (const root of [document, ...shadows]) {
    for (const e of root.querySelectorAll("input, textarea, select")) of.push(e.value, e.checked, e.indeterminate, e.multiple ? Array.from(e.options ?? [], o => o.selected) : "");
  }
  return JSON.stringify(of);
}
const isUnchanged = () => changesRead === changes && ![document, ...shadows].some(root => root.getAnimations().length) && signature() === seen;

// The tree: rows of [parent, id, role, name, value, description, identifier, states, x, y, width, height, action, min, max].
let rows, frames, active, whole;
const view = () => ({l: 0, t: 0, r: innerWidth, b: innerHeight});
const cutRect = (c, r) => ({l: Math.max(c.l, r.left), t: Math.max(c.t, r.top), r: Math.min(c.r, r.right), b: Math.min(c.b, r.bottom)});
const shows = (c, r) => r.width > 0 && r.height > 0 && r.right > c.l && r.left < c.r && r.bottom > c.t && r.top < c.b;
const place = (row, rect, s, clip) => {
  const bits = shows(clip, rect) ? S.showing : S.offscreen;
  row[7] = s | bits;
  row[8] = rect.left; row[9] = rect.top; row[10] = rect.width; row[11] = rect.height;
};

const isField = (e, role) => role === "textbox" || role === "searchbox" || role === "spinbutton" || role === "combobox" || role === "listbox";
// The place of a box that shows only by its label.
function labelled(e, rect) {
  const isSeen = rect.width > 1 && rect.height > 1 && rect.right > 0 && rect.bottom > -scrollY;
  return isSeen || !e.labels?.length ? rect : e.labels[0].getBoundingClientRect();
}

function addText(node, parent, rect, clip) {
  const text = squeeze(node.data);
  if (!text) return;
  if (!rect) {
    const range = document.createRange();
    range.selectNode(node);
    rect = range.getBoundingClientRect();
    if (!rect.width && !rect.height) return;
  }
  const row = [parent, idOf(node), "text", text.slice(0, 2000), "", "", "", 0, 0, 0, 0, 0, "", 0, 0];
  place(row, rect, S.enabled, clip);
  rows.push(row);
}

function addOptions(select, parent, s) {
  const shown = select.multiple || select.size > 1, box = select.getBoundingClientRect();
  const clip = box.width > 1 && box.height > 1 ? cutRect(view(), box) : {l: 0, t: 0, r: 0, b: 0}; // a replaced list stays there for readers of the screen
  if (!shown) {
    rows.push([parent, -idOf(select), "menu", "", "", "", "", s & S.enabled, 0, 0, 0, 0, "", 0, 0]);
    parent = rows.length - 1;
  }
  for (const o of select.options) {
    const states = statesOf(o, "option");
    const row = [parent, idOf(o), shown ? "option" : "menuitem", nameOf(o, "option"), "", "", "", states, 0, 0, 0, 0, shown && states & S.enabled ? "select" : "", 0, 0];
    if (shown) place(row, o.getBoundingClientRect(), states, clip);
    rows.push(row);
  }
}

function visit(e, parent, clip, pointerAbove, editing, off) {
  const tag = e.tagName.toUpperCase();
  if (tag === "SCRIPT" || tag === "STYLE" || tag === "NOSCRIPT" || tag === "TEMPLATE" || tag === "HEAD") return;
  if (isTrue(e, "aria-hidden") || e.hasAttribute("inert")) return;
  const style = getComputedStyle(e);
  const display = style.display; // each property of a computed style is slow
  if (display === "none") return;
  const hidden = style.visibility !== "visible", contents = display === "contents";
  const bare = isBare(e), role = hidden ? "" : roleOf(e);
  const rect = contents ? null : e.getBoundingClientRect();
  if (!contents && clip !== whole && style.position === "fixed") clip = whole;
  let at = parent, s = 0, name = "", mine = -1;
  if (!hidden && e !== document.documentElement && e !== document.body) {
    let spot = contents ? {left: 0, top: 0, right: 0, bottom: 0, width: 0, height: 0} : rect;
    const editor = !bare && isEditor(e);
    s = bare ? (off ? 0 : S.enabled) | (e === active ? S.focused : 0) : statesOf(e, role, active);
    off = off || !bare && isTrue(e, "aria-disabled");
    const action = actionOf(e, role, s, style, pointerAbove || role === "" && editing);
    const wanted = role !== "" || action !== "" || s & S.focusable && e.hasAttribute("tabindex");
    const block = !wanted && !display.startsWith("inline") && !contents;
    if (wanted || block) {
      if (wanted) name = nameOf(e, role, bare);
      if (!wanted || role !== "image" || name || action || e.getAttribute("alt") === null) {
        const [min, max] = wanted && (!bare || role === "heading") ? numbersOf(e, role) : [0, 0];
        if (wanted && role === "" && !name && action) name = squeeze(textOf(e)).slice(0, 200);
        if (!name && isField(e, role) && (name = wordsBefore(e))) s |= S.placed;
        if (role === "checkbox" || role === "radio") spot = labelled(e, spot);
        const row = [parent, idOf(e), role || "generic", name, wanted && !bare ? valueOf(e, role) : "", wanted && !bare ? descriptionOf(e, name) : "", wanted ? e.id || attr(e, "data-testid") : "", s, 0, 0, 0, 0, action, min, max];
        if (wanted && !name && !row[4] && !row[5] && (action || CONTROLS.has(role)) && !e.textContent.trim()) row[5] = signOf(e);
        place(row, spot, s, clip);
        at = mine = rows.length;
        row.loose = block;
        rows.push(row);
      }
    }
    editing = editing || editor;
  }
  if (tag === "IFRAME" || tag === "FRAME") {
    if (mine >= 0) frames.push([mine, idOf(e), rect.left + e.clientLeft, rect.top + e.clientTop]);
    return;
  }
  if (tag === "SELECT") return mine >= 0 ? addOptions(e, mine, s) : undefined;
  if (LEAVES.has(role) || tag === "TEXTAREA" || tag === "INPUT" || tag === "SVG" || tag === "VIDEO" || tag === "AUDIO") return;
  const kids = childrenOf(e), shadow = shadowOf(e);
  if (shadow) { shadows.push(shadow); observe(shadow); }
  let texts = 0, others = 0;
  for (const c of kids) {
    if (c.nodeType === 3 && c.data.trim()) texts++;
    else if (c.nodeType === 1) others++;
  }
  const sole = texts === 1 && others === 0;
  if (sole && mine >= 0 && (BY_CONTENT.has(role) && name || rows[mine][3])) return;
  const inner = contents || e === document.body || e === document.documentElement || style.overflow === "visible" ? clip : cutRect(clip, rect);
  if (!pointerAbove && others) pointerAbove = style.cursor === "pointer";
  for (const c of kids) {
    if (c.nodeType === 1) visit(c, at, inner, pointerAbove, editing, off);
    else if (c.nodeType === 3 && !hidden) addText(c, at, sole && rect?.width ? rect : null, inner);
  }
  if (mine >= 0 && !(rows[mine][7] & S.showing)) enclose(mine);
  if (mine >= 0 && rows[mine].loose) loosen(mine);
}

// An element without a box, or one out of view, is where those of its parts are that show.
function enclose(at) {
  const shown = [];
  for (let i = at + 1; i < rows.length; i++) if (rows[i][0] === at && rows[i][7] & S.showing) shown.push(rows[i]);
  if (!shown.length) return;
  const row = rows[at], [left, top, right, bottom] = [[8, 0], [9, 0], [8, 10], [9, 11]].map(([from, size], i) => Math[i < 2 ? "min" : "max"](...shown.map(r => r[from] + (size && r[size]))));
  row[7] = row[7] & ~S.offscreen | S.showing;
  [row[8], row[9], row[10], row[11]] = [left, top, right - left, bottom - top];
}

// A block without a meaning of its own stays only if it holds several parts together.
function loosen(at) {
  const first = at + 1;
  let parts = 0;
  for (let i = first; i < rows.length && parts < 2; i++) if (rows[i][0] === at) parts++;
  if (parts > 1) return;
  const parent = rows[at][0];
  rows.splice(at, 1);
  for (let i = at; i < rows.length; i++) {
    if (rows[i][0] === at) rows[i][0] = parent;
    else if (rows[i][0] > at) rows[i][0]--;
  }
  for (const f of frames) if (f[0] > at) f[0]--;
}

function read(mayRepeat) {
  observe(document);
  if (mayRepeat && isUnchanged()) return "";
  rows = []; frames = []; shadows = []; active = activeIn(document);
  const modal = [...document.querySelectorAll("dialog:modal")].pop();
  const root = document.documentElement, body = document.body;
  if (root) {
    const editable = document.designMode === "on" || !!body?.isContentEditable;
    const s = S.showing | S.enabled | S.focusable | ((active === body || !active) && (parent === window || document.hasFocus()) ? S.focused : 0) | (editable ? S.editable : 0) | (document.readyState === "loading" ? S.busy : 0);
    rows.push([-1, idOf(document), "document", squeeze(document.title), "", "", "", s, 0, 0, innerWidth, innerHeight, "", 0, 0]);
    visit(modal ?? root, 0, whole = view(), false, false, false);
  }
  changesRead = changes; seen = signature();
  return JSON.stringify({token, url: document.URL, lang: (root?.lang || attr(root, "xml:lang")).trim(), scale: devicePixelRatio, width: pixels(innerWidth), height: pixels(innerHeight), visible: isVisible(),
    frames: frames.map(([at, id, x, y]) => ({at, id, x: pixels(x), y: pixels(y)})), ...columns(rows)});
}
const isVisible = () => document.visibilityState === "visible";
const pixels = n => Math.round(n * devicePixelRatio);
function columns(rows) {
  const out = {parents: [], ids: [], roles: [], names: [], values: [], about: [], keys: [], states: [], places: [], actions: [], bounds: []};
  for (const r of rows) {
    out.parents.push(r[0]); out.ids.push(r[1]); out.roles.push(r[2]); out.names.push(r[3]); out.values.push(r[4]); out.about.push(r[5]); out.keys.push(r[6]);
    out.states.push(r[7]); out.places.push(pixels(r[8]), pixels(r[9]), pixels(r[10]), pixels(r[11])); out.actions.push(r[12]); out.bounds.push(r[13], r[14]);
  }
  return out;
}

// One element, with its whole value.
function one(id) {
  const e = nodeOf(Math.abs(id));
  if (!e || !isVisible()) return "";
  rows = []; frames = []; active = activeIn(document);
  if (e.nodeType === 9) return JSON.stringify(columns([[-1, id, "document", squeeze(document.title), "", "", "", S.showing | S.enabled | S.focusable, 0, 0, innerWidth, innerHeight, "", 0, 0]]));
  if (e.nodeType === 3) {
    addText(e, -1, null, view());
    return rows.length ? JSON.stringify(columns(rows)) : "";
  }
  const role = roleOf(e), style = getComputedStyle(e), s = statesOf(e, role, active), [min, max] = numbersOf(e, role);
  let name = nameOf(e, role);
  const shown = style.display !== "none" && style.visibility === "visible";
  const option = e.tagName === "OPTION" && e.closest("select")?.matches(":not([multiple]):not([size])");
  if (!name && isField(e, role)) name = wordsBefore(e);
  const row = [-1, id, id < 0 ? "menu" : option ? "menuitem" : role || "generic", name, valueOf(e, role, true), descriptionOf(e, name), e.id, s, 0, 0, 0, 0, actionOf(e, role, s, style, false), min, max];
  if (shown && !option) place(row, e.getBoundingClientRect(), s, view());
  return JSON.stringify(columns([row]));
}

// Changes: the promise of changed() ends when there are more than it was told (-1: than were read), and has their number.
let changes = 0, waiting = [], observed = new WeakSet();
function note() {
  changes++;
  for (const end of waiting.splice(0)) end(String(changes));
}
const watcher = new MutationObserver(note);
function observe(root) {
  if (observed.has(root)) return;
  observed.add(root);
  watcher.observe(root, {subtree: true, childList: true, characterData: true, attributes: true});
  for (const kind of ["input", "change", "focusin", "focusout", "scroll", "toggle", "load", "transitionend", "animationend"]) root.addEventListener(kind, note, {capture: true, passive: true});
}
function changed(since) {
  observe(document);
  return (since < 0 ? changesRead : since) < changes ? String(changes) : new Promise(end => waiting.push(end));
}
