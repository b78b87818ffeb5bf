// Package account knows what the system says of the account that the program runs as,
// whatever its environment says: where its home is, what is its alone, what root has
// written for everybody, and whether this process sees the computer as it is.
//
// Whoever starts the program chooses its environment; what the gates stand on must not be
// theirs to choose.
package userinfo
