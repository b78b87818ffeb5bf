// Package gui provides the desktop app: tools that see and operate the windows of any program, on
// the interfaces of internal/desktop.
//
// Each tool names its program in the parameter "app", which FindTarget resolves, so that consent and
// journal refer to the program.
//
// A program that hangs delays only its own calls, because each program has a queue in Gateway.Do.
// All tools share one engine. A view reads a program, finds the one element of a query and makes it
// ready (locate.go, ready.go). An action tries several techniques, best first, and reports only observed
// changes (action.go). Every call takes the steps of runTool (spec.go). Tools use the person's focus and
// pointer only in the mode "focus".
package gui
