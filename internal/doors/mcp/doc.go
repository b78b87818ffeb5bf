// Package mcp is the door for AI agents: an MCP server, built with the official Go SDK, in
// front of the gateway.
//
// The list of tools is short however many apps are installed: one entry for each app, which
// returns the app's guide, and aai_exec, which runs a tool of any app. Each call becomes an
// aai.Call and goes through Gateway.Do; the door only translates to and from the protocol.
// The stdio transport is here, HTTP in package streamable.
package mcp
