// Package discovery finds apps of web sites, and integrations of programs on this computer.
//
// A [WebCatalog] is an [aai.Catalog] in front of the local one. The descriptor of a site at
// https://<host>/.well-known/aai.json becomes an app with the id "<host>/<id>". The WebCatalog looks up a requested
// address in memory, in the disk cache, and then at the site through internal/netguard. A descriptor from the web is
// untrusted: only its web section counts, and only the HTTP driver runs it. Processes share the cache and the file of
// names.
//
// A [Scanner] finds integrations on the buses, in desktop entries and in clients' MCP servers, with the benefit and
// the setup of each. It enables and starts no integration, calls only methods that read, and ends within a timeout.
// It cleans untrusted names and returns no values of configurations. [Scanner.Watch] records the findings in one file
// for all gateways of the person.
package discovery
