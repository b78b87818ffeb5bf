// Package policy decides whether a call may run. Each of its gates answers one
// question of that kind for Gateway.Do; none of them talks to a person, they
// return what has to be asked. The package imports the root package and internal/netguard,
// and nothing else of ours.
package policy
