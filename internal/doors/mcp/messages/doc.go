// Package messages reads and writes the JSON-RPC messages of MCP for the transports,
// before the SDK reads them and after it wrote them: in one go, within bounds, with
// large arguments around it, and without what it says of itself. It knows no transport.
package messages
