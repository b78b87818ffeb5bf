// Package httpdoor is what any door over HTTP stands in: it listens, knows the
// computer's own names, pages that may come, and whom a token speaks for, bounds what
// strangers and callers take, and ends in order. What is said in it is the door's own
// matter: this room knows no protocol but HTTP.
package httpdoor
