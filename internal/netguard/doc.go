// Package netguard sends all requests to the web that third-party text can cause (a descriptor,
// its logins, its calls). They all use a [Client], so that there is a single guard.
//
// The guard checks the address that is actually dialed, after name resolution and before anything
// is sent. It rejects private, local and special addresses, ports other than 80 and 443, and
// redirects that fail the same checks; it uses no proxy, which would hide the target. Hosts that
// a person trusts may be on a private network; addresses of cloud metadata services are always
// rejected.
//
// [SameSite], [IsLoopback] and related functions decide for all packages which hosts have the
// same owner or belong to this computer. The package stores nothing and does not depend on apps.
package netguard
