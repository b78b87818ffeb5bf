// Package policy decides whether a call may run. It implements the gates of Gateway.Do.
// Gates do not talk to a person; they return the question that the gateway must ask. The
// package imports the root package and helpers such as internal/netguard, but no door and
// no driver.
package policy
