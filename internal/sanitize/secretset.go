package sanitize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/json"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
)

// A SecretSet holds the credentials that a driver adds to an app's requests: keys, tokens and the
// values of variables. It removes them from the app's answers, because apps repeat requests. A
// secret may be added at any time; beyond maxSecrets, the one added least recently is dropped, because a
// login may add another proof to each request. The zero value is an empty set. It is safe for concurrent use.
type SecretSet struct {
	mu        sync.RWMutex
	secrets   []string            // the last added last
	forms     map[string][]string // the encodings of each
	encodings []string            // of all, the longest first
}

// maxSecrets limits the secrets of a set.
const maxSecrets = 64

// minCredential is the length in bytes from which a credential is removed. Shorter ones occur in
// ordinary words.
const minCredential = 6

// minSecretLine is the length in bytes from which a line of a credential is one too, as of a key
// in PEM.
const minSecretLine = 16

// Add adds secrets.
func (s *SecretSet) Add(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	changed := false
	for _, secret := range secrets {
		lines := strings.FieldsFunc(secret, func(r rune) bool { return r == '\n' || r == '\r' })
		lines = slices.DeleteFunc(lines, func(line string) bool { return len(line) < minSecretLine })
		for _, part := range append(lines, secret) {
			if len(part) < minCredential {
				continue
			}
			if i := slices.Index(s.secrets, part); i >= 0 {
				s.secrets = append(slices.Delete(s.secrets, i, i+1), part)
				continue
			}
			s.secrets, changed = append(s.secrets, part), true
		}
	}
	if !changed {
		return
	}
	s.secrets = slices.Delete(s.secrets, 0, max(0, len(s.secrets)-maxSecrets))
	known := s.forms
	s.forms, s.encodings = make(map[string][]string, len(s.secrets)), nil
	for _, secret := range s.secrets {
		if s.forms[secret] = known[secret]; s.forms[secret] == nil {
			s.forms[secret] = SecretEncodings([]string{secret})
		}
		s.encodings = append(s.encodings, s.forms[secret]...)
	}
	slices.SortFunc(s.encodings, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.encodings = slices.Compact(s.encodings)
}

// Join adds the secrets of another set.
func (s *SecretSet) Join(other *SecretSet) {
	other.mu.RLock()
	secrets := slices.Clone(other.secrets)
	other.mu.RUnlock()
	s.Add(secrets...)
}

// AddRequest adds the secrets that a login added to a request that had the headers and the query.
func (s *SecretSet) AddRequest(headers http.Header, query string, req *http.Request) {
	for name, values := range req.Header {
		for _, value := range values {
			if slices.Contains(headers[name], value) {
				continue
			}
			s.Add(value)
			if _, token, found := strings.Cut(value, " "); found {
				s.Add(token)
			}
		}
	}
	if len(headers["Cookie"]) == 0 { // login by cookies excludes cookie parameters
		for _, c := range req.Cookies() {
			s.Add(c.Value)
		}
	}
	if before, err := url.ParseQuery(query); err == nil && req.URL.RawQuery != query {
		for name, values := range req.URL.Query() {
			for _, value := range values {
				if !slices.Contains(before[name], value) {
					s.Add(value)
				}
			}
		}
	}
}

// Redact returns the text with the secrets replaced by Redacted.
func (s *SecretSet) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if !mayRepeat(text, s.secrets) {
		return text
	}
	return redactTruncated(replaceAll(text, s.encodings), s.encodings)
}

func replaceAll(text string, secrets []string) string {
	for _, secret := range secrets {
		text = strings.ReplaceAll(text, secret, Redacted)
	}
	return text
}

// RedactValue returns a copy of a JSON value with Redact applied to all texts, names and numbers in it.
func (s *SecretSet) RedactValue(value any) any {
	switch of := value.(type) {
	case string:
		return s.Redact(of)
	case json.Number:
		if kept := s.Redact(of.String()); kept != of.String() {
			return kept
		}
	case map[string]any:
		kept := make(map[string]any, len(of))
		for name, item := range of {
			kept[s.Redact(name)] = s.RedactValue(item)
		}
		return kept
	case []any:
		kept := make([]any, len(of))
		for i, item := range of {
			kept[i] = s.RedactValue(item)
		}
		return kept
	}
	return value
}

// IsIn reports whether binary data contains a secret, as it is or in UTF-16 of either byte order.
func (s *SecretSet) IsIn(data []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return slices.ContainsFunc(s.encodings, func(secret string) bool {
		little, big := make([]byte, 0, 2*len(secret)), make([]byte, 0, 2*len(secret))
		for _, unit := range utf16.Encode([]rune(secret)) {
			little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
		}
		return bytes.Contains(data, []byte(secret)) || bytes.Contains(data, little) || bytes.Contains(data, big)
	})
}

// IsEmpty reports whether the set has no secret.
func (s *SecretSet) IsEmpty() bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	return len(s.secrets) == 0
}
