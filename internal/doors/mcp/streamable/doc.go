// Package streamable serves the MCP door over HTTP: by the protocol's Streamable HTTP, with
// and without sessions, and by the transport of 2024-11-05 with server-sent events. It
// keeps the sessions and the events that clients can resume. Package httpdoor authenticates
// and limits requests; the door's MCP server answers the messages.
package streamable
