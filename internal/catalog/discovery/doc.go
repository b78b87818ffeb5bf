// Package discovery makes apps of web sites: what a site says of itself at
// https://<host>/.well-known/aai.json becomes an app whose id is "<host>/<id>".
//
// A [WebCatalog] is an [aai.Catalog] in front of the local one. What the local catalog
// knows it answers; an address that it does not know is looked up: in memory, in
// the cache on disk, and then at the site, through internal/netguard. Nothing is
// looked up before somebody asks for it by address or by a name that the person
// gave a site.
//
// A descriptor from the web is a stranger's: it is read with its origin, only its
// web section counts, and of all drivers only that of HTTP is ever shown to it.
//
// The room writes its cache and, for a person, the file of names; both are safe to
// share with other processes. It imports internal/catalog, which reads
// descriptors, and internal/netguard.
package discovery
