// Package com runs the tools of Windows apps over COM: it turns an [aai.Recipe] with COM or IPC set into an [aai.Action].
//
// This package knows no Windows: it converts JSON to the values of COM and back, keeps the processes that run the steps, and
// reports their errors. Package host, in such a process, creates the objects and calls them.
//
// The steps of one call, all within the call's deadline:
//
//	resolve  put the arguments into the steps, as values of COM (steps.go, encode.go)
//	process  take an idle process of the app, or start one (pool.go); it runs one call at a time
//	run      the process runs the steps on objects of its apartment (host), and repeats the calls of a busy app
//	decode   the variables of the answer to JSON (decode.go), or the failed step to an error (errors.go)
//
// A call of COM cannot be interrupted. So the driver kills the process of a call that exceeds its deadline; no other call runs in
// it. Apps with a process of their own, such as Outlook, survive it.
//
// All of it runs on Wine; it never ran on real Windows.
package com
