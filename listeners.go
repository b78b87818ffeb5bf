package aai

import "sync"

// Listeners are the functions that a [Catalog] calls after a change. They are called
// one after another, in the order in which they were added, with no lock of the
// catalog held. The zero Listeners has none. Safe for concurrent use.
type Listeners struct {
	mu  sync.Mutex
	all []*listener
}

// A listener's lock is held while it is called, so that removing it waits.
type listener struct {
	mu      sync.Mutex
	f       func()
	removed bool
}

// Add adds a function until remove. After remove has returned f is not running and
// is not called again; f itself must not call remove.
func (l *Listeners) Add(f func()) (remove func()) {
	one := &listener{f: f}
	l.mu.Lock()
	l.all = append(l.all, one)
	l.mu.Unlock()
	return func() {
		l.mu.Lock()
		for i, other := range l.all {
			if other == one {
				l.all = append(l.all[:i:i], l.all[i+1:]...)
				break
			}
		}
		l.mu.Unlock()
		one.mu.Lock()
		one.removed = true
		one.mu.Unlock()
	}
}

// Call calls all of them.
func (l *Listeners) Call() {
	l.mu.Lock()
	all := l.all
	l.mu.Unlock()
	for _, one := range all {
		one.call()
	}
}

func (l *listener) call() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.removed {
		l.f()
	}
}
