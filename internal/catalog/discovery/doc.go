// Package discovery finds apps of web sites, and integrations of programs on this computer.
//
// A [WebCatalog] is an [aai.Catalog] in front of the local one. The descriptor of a site at
// https://<host>/.well-known/aai.json becomes an app with the id "<host>/<id>". It looks up an
// address in memory, in the disk cache, and then at the site through internal/netguard, only on
// request. A descriptor from the web is untrusted: only its web section counts, and only the HTTP
// driver runs it. Processes share the cache and the file of names.
//
// A [Scanner] finds integrations on the buses, in desktop entries and in clients' MCP servers,
// with the benefit and the setup of each. It enables and starts none, calls only methods that
// read, ends within [DefaultScanTimeout], cleans untrusted names, and returns no values of
// configurations. [Scanner.Watch] records new ones in one file for all gateways of the person.
package discovery
