// Package httpdoor is the HTTP server under every door over HTTP. It checks Host, Origin
// and token, limits connections, bodies and the requests that start at a time, and shuts
// down in order. It knows no protocol but HTTP; each door adds its own by [Hooks] and
// [Server.Handle].
package httpdoor
