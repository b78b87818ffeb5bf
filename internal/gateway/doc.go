// Package gateway takes one call from its request to its outcome.
//
// [Gateway.Do] is the only path from an [aai.Call] to its Action. gateway.go has its stages in their
// order: receive, resolve, validate, check, queue, record the intent, run, record the outcome.
// [Gateway.Admit] runs the stages up to the check for several calls, which run later.
//
// The functions that take the context of an Action, such as [Progress], concern the call that runs
// the Action. Without such a call they do nothing. Package actionctx has those that need no gateway.
package gateway
