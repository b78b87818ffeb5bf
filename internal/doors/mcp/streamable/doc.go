// Package streamable is how the MCP door is reached over HTTP: the protocol's Streamable
// HTTP in sessions and without, and the transport of 2024-11-05 with events from the
// server. It keeps sessions and what can be resumed of them; who may come, and how much
// of it, is the matter of httpdoor, and what is said that of the door's server.
package streamable
