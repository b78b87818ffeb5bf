// Package host creates COM objects and calls them late-bound, by IDispatch, and reads type libraries. It runs in a process of its own,
// in one single-threaded apartment, and takes its work from package com. Other systems than Windows have nothing of it.
//
// Pointers of COM are unsafe.Pointers that lead out of Go's heap. Memory of Go that COM reads stays in place during a call, since
// it escapes to the heap and is pinned.
package host
