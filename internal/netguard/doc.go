// Package egress is the one way out to the web. Every request that a stranger's
// text can cause (a descriptor, its logins, its calls) goes through a [Client],
// so that there is one guard and not several that disagree.
//
// The guard looks at the address that is really dialled, after the name was
// looked up and before anything is sent: no private, local or special address,
// no port but 80 and 443, no proxy that would hide the target, no redirect that
// was not judged like a request of its own. What a person trusts, by name, may be
// on a private network; the addresses where clouds keep their secrets are refused
// to everybody.
//
// The package may open connections. It keeps nothing, and knows nothing of apps.
package netguard
