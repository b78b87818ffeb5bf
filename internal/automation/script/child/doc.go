// Package child is the process in which a script runs: a JavaScript machine that has no
// files, no network, no environment, and one pipe pair by which it asks its parent to make
// calls. The machine's memory cannot be limited within a process, and what is written in Go
// of it, such as a regular expression, cannot be stopped: so the process is what is limited
// and ended. It trusts its parent; its parent believes nothing that it says.
package child
