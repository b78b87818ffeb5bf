// Package aai has the terms of aai-gateway, through which AI agents operate the apps of a computer.
//
//   - An [App] has [Tool]s. A Tool is a description plus an [Action], whether it comes from an
//     aai.json file, a web site or the gateway itself.
//   - A [Call] names one Tool of one App on behalf of a [Caller], and ends in a [Result] or an [Error].
//   - A [Gate] decides whether a call may run, and a [Journal] records it.
//
// internal/gateway runs calls: Gateway.Do is the only path from a Call to its Action.
// Doors (internal/doors) accept calls, internal/catalog finds apps, gates (internal/policy)
// decide, internal/audit records, and drivers (internal/drivers) send calls to apps. All of them
// import this package. It imports none of them, and of this module only internal/sanitize;
// arch_test.go checks that.
package aai
