// Package mcp runs the Model Context Protocol servers that descriptors name, and offers
// their tools as tools of an app. It turns an [aai.Recipe] with MCP set into an
// [aai.Action], and gives an app that leaves the list of tools to its server the tools of the server.
//
// Data from a server is untrusted. A file caches the last listing of the tools (listing.go, listingcache.go), so that
// listing an app starts no process. Consent is bound to the digest of each tool. A call runs only if the server's
// definition still has the digest that the user consented to (call.go).
//
// The steps of one call, all within the call's deadline:
//
//	acquire    get the server's session, start the server if needed (server.go, http.go)
//	fresh      list the tools again if they may have changed (listing.go)
//	call       use the SDK's client over a connection that limits floods (wire.go)
//	result     convert texts, structured content, pictures, resources, errors (result.go)
//
// A server process ends with the gateway, after an idle time, and on a protocol fault. It
// restarts with growing pauses. The package imports the SDK for the protocol's client only.
package mcp
