package discovery

import "sync"

// listeners are the functions to call after a change, one call of each at a time.
type listeners struct {
	mu   sync.Mutex
	next int
	all  map[int]*listener
}

// A listener's lock is held while it is called, so that removing it waits.
type listener struct {
	mu      sync.Mutex
	f       func()
	removed bool
}

func (l *listeners) add(f func()) (remove func()) {
	one := &listener{f: f}
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.all == nil {
		l.all = make(map[int]*listener)
	}
	key := l.next
	l.next++
	l.all[key] = one
	return func() {
		l.mu.Lock()
		delete(l.all, key)
		l.mu.Unlock()
		one.mu.Lock()
		one.removed = true
		one.mu.Unlock()
	}
}

func (l *listeners) call() {
	l.mu.Lock()
	all := make([]*listener, 0, len(l.all))
	for _, one := range l.all {
		all = append(all, one)
	}
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
