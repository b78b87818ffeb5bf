// Package cdp calls tools that pages of a connected browser declare (WebMCP,
// https://webmachinelearning.github.io/webmcp/). They are the tools of an app, "page:" and the page's origin, while the
// page is open. Package devtools has the connections.
//
// A page decides what its tools are, so nothing that it says is trusted: every tool counts as destructive, a consent is
// bound to origin and definition, the arguments are checked against the schema here, since browsers do not, and a
// tool belongs to the origin of its frame. Only frames of the page's own origin have tools.
package cdp
