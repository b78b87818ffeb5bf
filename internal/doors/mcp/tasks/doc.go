// Package tasks lets a call of a tool outlast its request: the client gets a
// handle, looks after the call when it likes, and fetches the result once.
//
// MCP has two forms of this, which share no message. The core of version
// 2025-11-25 has the client ask for a task ("task" in the parameters of
// tools/call), and a tasks/result that blocks. From 2026-07-28 on it is the
// extension io.modelcontextprotocol/tasks (SEP-2663), where the server decides
// which call becomes a task, and tasks/get brings the result along. A [Layer]
// serves both from one store, as middleware of the official Go SDK, which knows
// neither. A call runs by the handler it would run by without a task.
//
// Tasks are kept in memory, for as long as their time to live says: a task is
// there for the one who made it and for nobody else, and ends with its session.
package tasks
