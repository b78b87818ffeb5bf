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
})();
