// Package devtools connects to running browsers over the Chrome DevTools Protocol. Other packages use the connections:
// drivers/cdp for tools that pages declare, platform/cdp to read and operate pages.
//
// A browser listens for DevTools if the person has started it with --remote-debugging-port, or has switched remote
// debugging on at chrome://inspect. [Find] finds such browsers of the person. A [Browsers] connects to those that the
// person has allowed, once for each start of the browser. A [Browser] lists its tabs, and a [Session] sends requests to
// one of them. All are safe for concurrent use.
package devtools
