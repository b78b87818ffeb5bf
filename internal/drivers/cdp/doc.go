// Package cdp reaches the pages of a running browser over the Chrome DevTools Protocol. Tools that a page declares
// (WebMCP, https://webmachinelearning.github.io/webmcp/) are the tools of an app, "page:" and the page's origin, while
// the page is open.
//
// A browser listens for DevTools if the person has started it with --remote-debugging-port, or has switched remote
// debugging on at chrome://inspect. [Find] finds such browsers of the person. A [Browsers] connects to those that the
// person has allowed, once for each start of the browser.
//
// A page decides what its tools are, so nothing that it says is trusted: every tool counts as destructive, a consent is
// bound to origin and definition, the arguments are checked against the schema here, since browsers do not, and a
// tool belongs to the origin of its frame. Only frames of the page's own origin have tools.
package cdp
