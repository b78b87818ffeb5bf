// What htmx may do here: put pages of this server into the one that is shown, and nothing
// that is code. It gets no other policy, so whatever else is written into a page by a script
// the browser refuses (require-trusted-types-for).
(() => {
  const forbidden = /<\s*\/?\s*(script|iframe|frame|object|embed|base|meta|link|style)\b|\son[a-z]+\s*=/i;
  const rules = {
    createHTML: (html) => {
      // Texts of others are escaped by the server: their "<" is no "<" here.
      if (forbidden.test(html.replace(/"[^"]*"|>[^<]*/g, (text) => (text[0] === ">" ? ">" : '""')))) {
        throw new TypeError("the page holds what pages of this server do not hold");
      }
      return html;
    },
  };
  const policy = window.trustedTypes ? trustedTypes.createPolicy("aai-page", rules) : rules;
  const never = function () { throw new TypeError("pages of this server hold no code"); };
  htmx.registerExtension("aai-page", { init: (api) => api.initSecurity(policy, never, never) });

  // A form of which a window may ask says until when that waits for an answer.
  document.addEventListener("submit", ({ target }) => {
    const said = target.querySelector("[data-waits]");
    if (!said) return;
    said.querySelector("time").textContent = new Date(Date.now() + 1000 * said.dataset.waits).toLocaleTimeString(document.documentElement.lang);
    said.hidden = false;
  });

  // A page whose stream of news is away for some seconds says that it may be out of date.
  const away = 4000;
  let wait = null;
  const lost = document.querySelector("#lost > p");
  const gone = () => { wait ??= setTimeout(() => { lost.hidden = false; }, away); };
  const back = () => { clearTimeout(wait); wait = null; lost.hidden = true; };
  if (lost) {
    document.addEventListener("htmx:sse:before:connection", gone);
    document.addEventListener("htmx:sse:error", gone);
    document.addEventListener("htmx:sse:after:connection", back);
    gone(); // until the first one is there
  }

  // A browser has few connections to a host: the stream of a page that is not used ends when
  // others have begun, and begins again when the page is used.
  const elsewhere = document.querySelector("#elsewhere > p");
  if (elsewhere) {
    document.addEventListener("htmx:sse:close", ({ detail }) => { if (detail.reason === "message") elsewhere.hidden = false; });
    const again = () => {
      if (elsewhere.hidden || document.hidden) return;
      elsewhere.hidden = true;
      htmx.trigger(document.querySelector("#live"), "again");
    };
    for (const used of ["focus", "pointerdown", "keydown"]) addEventListener(used, again);
    document.addEventListener("visibilitychange", again);
  }

  // In the picture of a desktop that the person has taken over, clicks and keys are sent one after the other,
  // without a new page. Tab leaves the picture.
  const keys = { Enter: "return", ArrowLeft: "left", ArrowRight: "right", ArrowUp: "up", ArrowDown: "down", PageUp: "page_up", PageDown: "page_down" };
  const screenOf = ({ target }) => target.closest?.("form [data-screen]");
  const waiting = [];
  let sending = false;
  const send = async (picture, input) => {
    const last = waiting.at(-1);
    if (last?.text && input.text) last.text += input.text;
    else waiting.push(input);
    if (sending) return;
    sending = true;
    while (waiting.length) {
      const { modifier = [], ...fields } = waiting.shift();
      const body = new URLSearchParams({ ...fields, csrf: picture.form.elements.csrf.value });
      for (const m of modifier) body.append("modifier", m);
      const answer = await fetch(picture.form.action, { method: "POST", body, redirect: "manual" }).catch(() => null);
      if (answer?.type !== "opaqueredirect") {
        waiting.length = 0;
        location.reload(); // it says what is the case
      }
    }
    sending = false;
  };
  const clicked = (event, kind) => {
    const picture = screenOf(event);
    if (!picture || event.detail === 0) return;
    event.preventDefault();
    picture.focus();
    const at = (place, shown, full) => Math.min(full - 1, Math.floor((place * full) / shown));
    const { width, height } = picture.dataset;
    send(picture, { "at.x": at(event.offsetX, picture.clientWidth, width), "at.y": at(event.offsetY, picture.clientHeight, height), click: kind });
  };
  document.addEventListener("click", (event) => clicked(event, new FormData(screenOf(event)?.form).get("click") ?? "left"));
  document.addEventListener("contextmenu", (event) => clicked(event, "right"));
  document.addEventListener("keydown", (event) => {
    const picture = screenOf(event);
    const { key } = event;
    if (!picture || key === "Tab" || event.isComposing || ["Control", "Shift", "Alt", "Meta", "AltGraph", "Dead", "Process"].includes(key)) return;
    event.preventDefault();
    const isText = [...key].length === 1;
    const modifier = ["ctrl", "alt", "meta", "shift"].filter((m) => event[m + "Key"] && !(isText && m === "shift"));
    if (isText && (modifier.length === 0 || event.getModifierState("AltGraph"))) send(picture, { text: key });
    else send(picture, { key: keys[key] ?? key.toLowerCase(), modifier });
  });
  for (const picture of document.querySelectorAll("form [data-screen]")) picture.classList.add("fits");
  document.addEventListener("visibilitychange", () => {
    for (const picture of document.querySelectorAll("[data-screen]")) {
      if (document.hidden) picture.removeAttribute("src");
      else picture.src = picture.dataset.screen;
    }
  });
})();
