// Package mcp is the door for AI agents: an MCP server, made with the official
// Go SDK, in front of the gateway.
//
// The list of tools is short whatever is installed: one entry for each app, which
// answers with the app's guide, and aai_exec, which runs a tool of any app. Each
// call becomes an aai.Call and goes through Gateway.Do; the door adds nothing of
// its own but the shapes of the protocol. How messages come is the matter of rooms
// below it: stdio is here, HTTP in streamable. Nothing else of ours imports the SDK.
package mcp
