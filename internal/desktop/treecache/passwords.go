package treecache

import "sync"

// maxPasswordFields limits the memory for an app that invents password fields.
const maxPasswordFields = 10_000

// PasswordFields remembers the objects of an app that have been password fields. Such an object stays one
// as long as it exists. A page's "show password" turns it into a text field and shows the password to
// people, but the gateway must not read it. The zero value is ready; it is safe for concurrent use.
type PasswordFields[K comparable] struct {
	mu    sync.Mutex
	known map[K]bool
}

// Add records that the object is a password field.
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
