package web

import (
	"crypto/rand"
	"crypto/subtle"
	"encoding/base64"
	"net/http"
	"sync"
	"time"
)

// The cookies.
const (
	sessionCookie  = "aai_session"
	languageCookie = "aai_language"
)

// sessionIdle is the time after which an unused session ends.
const sessionIdle = 12 * time.Hour

// A session is a browser that has logged in. It ends with the door.
type session struct {
	id   string // for the journal; it grants no access
	csrf string

	examined examination // by the doctor
	events   followedSources

	mu       sync.Mutex
	lastUsed time.Time
	notice   string
	undos    map[string]string // descriptions of undos by the id of the call
}

func (s *session) setNotice(text string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.notice = text
}

// takeNotice returns the notice, and clears it.
func (s *session) takeNotice() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	text := s.notice
	s.notice = ""
	return text
}

// maxUndos limits the calls of a session that can be undone.
const maxUndos = 1000

// rememberUndo stores the description of a call's undo.
func (s *session) rememberUndo(call, says string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.undos == nil {
		s.undos = make(map[string]string)
	}
	if len(s.undos) < maxUndos {
		s.undos[call] = says
	}
}

// undoText returns the description of a call's undo, "" if there is none.
func (s *session) undoText(call string) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.undos[call]
}

// forgetUndo removes a call that was undone.
func (s *session) forgetUndo(call string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.undos, call)
}

// isToken reports whether the CSRF token is the session's.
func (s *session) isToken(csrf string) bool {
	return subtle.ConstantTimeCompare([]byte(s.csrf), []byte(csrf)) == 1
}

// sessions are the sessions of a door, by the value of their cookie.
type sessions struct {
	mu  sync.Mutex
	all map[string]*session
}

// begin creates a session and its cookie. The value is always new: a browser's earlier
// cookie means nothing.
func (s *sessions) begin(now time.Time) (*session, *http.Cookie) {
	made, key := &session{id: random(9), csrf: random(24), lastUsed: now}, random(32)
	s.mu.Lock()
	defer s.mu.Unlock()
	s.all[key] = made
	return made, &http.Cookie{Name: sessionCookie, Value: key, Path: "/", HttpOnly: true, SameSite: http.SameSiteStrictMode} //nolint:gosec // this computer alone, without TLS
}

// find returns the session of a request, nil if there is none.
func (s *sessions) find(r *http.Request, now time.Time) *session {
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, known := range s.all {
		known.mu.Lock()
		if now.Sub(known.lastUsed) > sessionIdle {
			delete(s.all, key)
		}
		known.mu.Unlock()
	}
	for _, c := range r.CookiesNamed(sessionCookie) {
		if found := s.all[c.Value]; found != nil {
			found.mu.Lock()
			found.lastUsed = now
			found.mu.Unlock()
			return found
		}
	}
	return nil
}

// end ends the session of a request.
func (s *sessions) end(r *http.Request) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range r.CookiesNamed(sessionCookie) {
		delete(s.all, c.Value)
	}
}

// random returns so many random bytes as text of letters, digits, - and _.
func random(bytes int) string {
	b := make([]byte, bytes)
	_, _ = rand.Read(b) // never fails (crypto/rand)
	return base64.RawURLEncoding.EncodeToString(b)
}
