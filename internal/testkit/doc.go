// Package testkit starts external processes for tests: child processes with pipes ([StartProcess]), private
// dbus-daemons with services ([StartBus]), and a real authorization server, oidc-provider ([StartOIDC]). [BrowserUser]
// simulates a person at a browser. It uses only its own temporary folders and processes, never the bus of
// the person at this computer. Only tests and benchmarks import it.
package testkit
