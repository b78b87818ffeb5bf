// Package clipserver serves a clip in a process of its own. The owner of a clip must serve it to other programs, and a
// clip should outlive the gateway: a client may end the gateway at any time, and a command ends at once.
package clipserver
