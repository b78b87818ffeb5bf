// Package mcp runs the servers of the Model Context Protocol that descriptors name, and has
// what they offer as tools of an app: it turns an [aai.Recipe] with MCP set into an
// [aai.Action], and an app whose descriptor lists no tools into one that has its server's.
//
// What a server says is a stranger's. Its tools are kept in a file as they were when it was
// first asked (listing.go, pins.go), so that the app is listed without starting anything;
// each has a digest, to which consent is bound, and a call runs only while the server still
// says what was consented to (call.go).
//
// The way of one call, all of it within the call's deadline:
//
//	acquire    the server's session, started where there is none (server.go, process.go, http.go)
//	fresh      what it lists is asked again where it may have changed (listing.go)
//	call       over the SDK's client, by a connection that holds back what floods (wire.go)
//	result     texts, structured content, pictures, resources, errors (result.go)
//
// A process ends with this one, when nobody has used it for a while, and when it does what no
// server should; it is started again with growing pauses. The room imports the SDK, because
// the protocol's client is its; it knows no door, no catalog and no gate.
package mcp
