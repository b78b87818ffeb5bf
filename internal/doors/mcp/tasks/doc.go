// Package tasks lets a tool call outlast its request: the client gets a handle, checks the
// call when it likes, and fetches the result once.
//
// MCP has two forms of this, which share no message. In the core of version 2025-11-25 the
// client requests a task ("task" in the parameters of tools/call), and tasks/result blocks.
// From 2026-07-28 on it is the extension io.modelcontextprotocol/tasks (SEP-2663): the
// server decides which call becomes a task, and tasks/get contains the result. A [Layer]
// serves both from one store, as middleware of the official Go SDK, which has neither. A
// task's call uses the same handler as other calls.
//
// Tasks are kept in memory for their time to live. Only the owner of a task can find it,
// and it ends with its session.
package tasks
