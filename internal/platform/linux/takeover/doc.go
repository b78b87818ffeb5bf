// Package takeover lets the person watch the isolated sessions of agents and work in them: tools of
// the gateway's own app for the person's doors, and the pictures of a session's screen.
// On systems other than Linux the package is empty.
package takeover
