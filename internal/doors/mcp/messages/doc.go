// Package messages reads and writes the JSON-RPC messages of MCP for the transports, before the SDK
// reads them and after it wrote them. It parses in one pass and within limits, lets large arguments
// bypass the SDK, and hides the SDK's internals. It is independent of the transport.
package messages
