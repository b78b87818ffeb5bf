package mirror

import "sync"

// manySecrets bounds what is remembered of an app that makes up password fields.
const manySecrets = 10_000

// Secrets remember which of an app's objects have been password fields. What has been
// one stays one for as long as it is there: a page's own "show password" turns it into a
// text field, and shows the password to people, but not to us. The zero value is ready;
// it is safe for concurrent use.
type Secrets[K comparable] struct {
	mu    sync.Mutex
	known map[K]bool
}

// Keep notes that the object is a password field.
func (s *Secrets[K]) Keep(object K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[K]bool{}
	}
	if len(s.known) < manySecrets {
		s.known[object] = true
	}
}

// Kept reports whether the object has been a password field.
func (s *Secrets[K]) Kept(object K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[object]
}
