// Package aai is the heart of aai-gateway, through which AI agents operate the
// apps of a computer.
//
// It holds the words the whole program speaks and one function.
//
//   - An [App] has [Tool]s. A Tool is a description plus an [Action]; whether it
//     came from an aai.json, from a web site or from the gateway itself makes no
//     difference here.
//   - A [Call] asks for one Tool of one App on behalf of a [Caller], and ends in a
//     [Result] or an [Error].
//   - [Gateway.Do] is the only way from a Call to its Action: received, resolve,
//     validate, gate, lane, intent, run, outcome, in that order and for everybody.
//
// Around it stand the doors through which calls come in (internal/doors), the
// catalog that knows the apps (internal/catalog), the policy that decides
// (internal/policy), the journal that records (internal/audit) and the drivers
// through which calls go out to apps (internal/drivers). All of them import this
// package; it imports none of them, and of ours only internal/sanitize. The map is kept by a test, arch_test.go.
package aai
