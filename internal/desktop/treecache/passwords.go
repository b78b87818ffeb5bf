package treecache

import "sync"

// maxPasswordFields bounds what is remembered of an app that makes up password fields.
const maxPasswordFields = 10_000

// PasswordFields remember which of an app's objects have been password fields. What has been
// one stays one for as long as it is there: a page's own "show password" turns it into a
// text field, and shows the password to people, but not to us. The zero value is ready;
// it is safe for concurrent use.
type PasswordFields[K comparable] struct {
	mu    sync.Mutex
	known map[K]bool
}

// Add notes that the object is a password field.
func (s *PasswordFields[K]) Add(object K) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.known == nil {
		s.known = map[K]bool{}
	}
	if len(s.known) < maxPasswordFields {
		s.known[object] = true
	}
}

// Has reports whether the object has been a password field.
func (s *PasswordFields[K]) Has(object K) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.known[object]
}
