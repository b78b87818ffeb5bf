package sanitize

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"encoding/hex"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"sync"
	"unicode/utf16"
)

// A SecretSet holds the credentials that a driver adds to an app's requests: keys, tokens and the
// values of variables. It removes them from the app's answers, because apps repeat requests. A
// secret may be added at any time. The zero value is an empty set. It is safe for concurrent use.
type SecretSet struct {
	mu        sync.RWMutex
	fixed     []string                // added by Add
	recent    []string                // added by AddRequest, the last one last
	long      []string                // of fixed; no fragment of them may return
	forms     map[string]*secretForms // of each
	encodings []string                // of all, the longest first
}

// secretForms are the forms of a secret that its set computes once.
type secretForms struct {
	signs     []string // one of them is in each text that repeats the secret
	encodings []string
}

const (
	// minCredential is the length in bytes from which a credential is removed. Shorter ones occur in
	// ordinary words.
	minCredential = 6
	// minSecretLine is the length in bytes from which a line of a credential is one too, as of a key
	// in PEM.
	minSecretLine = 16
	// maxRecent limits the secrets of requests: a login may add another proof to each request.
	maxRecent = 32
)

// Add adds secrets. A text that shares a fragment with one of over maxExactBytes is omitted whole.
func (s *SecretSet) Add(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range secrets {
		lines := strings.FieldsFunc(secret, func(r rune) bool { return r == '\n' || r == '\r' })
		lines = slices.DeleteFunc(lines, func(line string) bool { return len(line) < minSecretLine })
		for _, part := range slices.Concat(lines, credentialParts(secret), []string{secret}) {
			if len(part) >= minCredential && !slices.Contains(s.fixed, part) {
				s.fixed = append(s.fixed, part)
			}
		}
		if len(secret) > maxExactBytes && !slices.Contains(s.long, secret) {
			s.long = append(s.long, secret)
		}
	}
	s.update()
}

// AddRecent adds secrets that soon lose their meaning, such as those of one request, and drops the oldest ones.
func (s *SecretSet) AddRecent(secrets ...string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, secret := range secrets {
		if len(secret) < minCredential {
			continue
		}
		if i := slices.Index(s.recent, secret); i >= 0 {
			s.recent = slices.Delete(s.recent, i, i+1)
		}
		s.recent = append(s.recent, secret)
	}
	s.recent = slices.Delete(s.recent, 0, max(0, len(s.recent)-maxRecent))
	s.update()
}

// update computes the encodings of new secrets. The caller holds mu.
func (s *SecretSet) update() {
	all := slices.Concat(s.fixed, s.recent)
	if len(all) == len(s.forms) && !slices.ContainsFunc(all, func(secret string) bool { return s.forms[secret] == nil }) {
		return
	}
	known := s.forms
	s.forms, s.encodings = make(map[string]*secretForms, len(all)), nil
	for _, secret := range all {
		f := known[secret]
		if f == nil {
			f = &secretForms{signs: secretSigns(secret), encodings: SecretEncodings([]string{secret})}
		}
		s.forms[secret], s.encodings = f, append(s.encodings, f.encodings...)
	}
	slices.SortFunc(s.encodings, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	s.encodings = slices.Compact(s.encodings)
}

// Join adds the secrets of another set.
func (s *SecretSet) Join(other *SecretSet) {
	other.mu.RLock()
	fixed, recent := slices.Clone(other.fixed), slices.Clone(other.recent)
	other.mu.RUnlock()
	s.Add(fixed...)
	s.AddRecent(recent...)
}

// AddRequest adds the secrets that a login added to a request that had the headers and the query.
func (s *SecretSet) AddRequest(headers http.Header, query string, req *http.Request) {
	for name, values := range req.Header {
		for _, value := range values {
			if slices.Contains(headers[name], value) {
				continue
			}
			s.AddRecent(value)
			if _, token, found := strings.Cut(value, " "); found {
				s.AddRecent(token)
			}
		}
	}
	if len(headers["Cookie"]) == 0 { // login by cookies excludes cookie parameters
		for _, c := range req.Cookies() {
			s.AddRecent(c.Value)
		}
	}
	if before, err := url.ParseQuery(query); err == nil && req.URL.RawQuery != query {
		for name, values := range req.URL.Query() {
			for _, value := range values {
				if !slices.Contains(before[name], value) {
					s.AddRecent(value)
				}
			}
		}
	}
}

// Redact returns the text with the secrets replaced by Redacted, or Omitted instead of the text.
func (s *SecretSet) Redact(text string) string {
	s.mu.RLock()
	defer s.mu.RUnlock()
	if len(s.long) > 0 && sharesFragment(text, s.long) {
		return Omitted
	}
	if plain, _ := percentDecoded(text, false); plain != "" {
		for secret := range s.forms {
			if strings.Contains(plain, secret) {
				text = redactPercent(text, secret)
			}
		}
	}
	if !s.mayRepeat(text) {
		return text
	}
	for _, secret := range s.encodings {
		text = strings.ReplaceAll(text, secret, Redacted)
	}
	return redactTruncated(text, s.encodings)
}

// redactPercent replaces the secret where at least one of its bytes is percent-encoded. Programs differ in
// the bytes that they encode, and in the case of the digits.
func redactPercent(text, secret string) string {
	plain, ends := percentDecoded(text, true)
	var b strings.Builder
	done := 0 // bytes of text that are written
	for from := 0; ; {
		i := strings.Index(plain[from:], secret)
		if i < 0 {
			b.WriteString(text[done:])
			return b.String()
		}
		begin, end := from+i, from+i+len(secret)
		b.WriteString(text[done:ends[begin]] + Redacted)
		done, from = int(ends[end]), end
	}
}

// percentDecoded returns the text with percent-encoded bytes decoded, "" if it has none, and with the index
// in text at which each decoded byte begins, and the end.
func percentDecoded(text string, indexes bool) (plain string, at []int32) {
	if !strings.Contains(text, "%") {
		return "", nil
	}
	decoded, found := make([]byte, 0, len(text)), false
	for i := 0; i < len(text); {
		if indexes {
			at = append(at, int32(i))
		}
		if i+2 < len(text) && text[i] == '%' {
			if raw, err := hex.DecodeString(text[i+1 : i+3]); err == nil {
				decoded, found, i = append(decoded, raw[0]), true, i+3
				continue
			}
		}
		decoded = append(decoded, text[i])
		i++
	}
	if !found {
		return "", nil
	}
	return string(decoded), append(at, int32(len(text)))
}

// mayRepeat reports whether the text may contain one of the secrets in some encoding.
func (s *SecretSet) mayRepeat(text string) bool {
	if strings.Contains(text, TruncationMark) {
		return len(s.forms) > 0
	}
	for _, f := range s.forms {
		if slices.ContainsFunc(f.signs, func(sign string) bool { return strings.Contains(text, sign) }) {
			return true
		}
	}
	return false
}

// RedactValue returns a JSON value with Redact applied to all texts, names and numbers in it; see MapTexts.
func (s *SecretSet) RedactValue(value any) any { return MapTexts(value, s.Redact) }

// IsIn reports whether binary data contains a secret: as it is, percent-encoded, or in UTF-16 of either byte
// order.
func (s *SecretSet) IsIn(data []byte) bool {
	s.mu.RLock()
	defer s.mu.RUnlock()
	plain, _ := percentDecoded(string(data), false)
	for secret := range s.forms {
		if strings.Contains(plain, secret) {
			return true
		}
	}
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
	return len(s.forms) == 0
}
