// Package script runs JavaScript that makes many calls in one. A script calls tools, evaluates
// their results, and returns a value. It can only make calls, each of which passes the gateway
// with the script's caller, so the script itself needs no consent. It runs in a separate process
// (package child). The process ends with the script, at its deadline, at its memory limit, or when
// its caller or the gateway is gone.
package script
