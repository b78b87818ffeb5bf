package aai

import (
	"context"
	"sync"
)

// A Catalog provides the apps. It is safe for concurrent use.
type Catalog interface {
	// Apps returns every app, ordered by id.
	Apps() []*App
	// Find returns the app that has name as its id, wire name, alias or display name. Otherwise it
	// returns an *Error, such as APP_NOT_FOUND with the nearest names as candidates.
	Find(ctx context.Context, name string) (*App, error)
	// OnChange calls f after every change of the list of apps, until stop is called.
	OnChange(f func()) (stop func())
}

// Listeners are functions that a [Catalog] calls after a change, in the order of their addition
// and without holding a lock of the catalog. The zero Listeners is empty. It is safe for
// concurrent use.
type Listeners struct {
	mu  sync.Mutex
	all []*listener
}

// A listener holds its lock during its call, so that removing it waits.
type listener struct {
	mu      sync.Mutex
	f       func()
	removed bool
}

// Add registers f until remove is called. After remove has returned, f is not running and is not
// called again; f must not call remove.
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

// Call calls all registered functions.
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
