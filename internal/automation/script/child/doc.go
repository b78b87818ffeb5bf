// Package child is the process that runs a script: a JavaScript machine without files, network or
// environment. Over one pair of pipes it asks its parent to make calls. A Go process cannot limit
// the machine's memory or stop its Go code, such as a regular expression. So the parent limits and
// ends the whole process. The child trusts its parent, but not the reverse.
package child
