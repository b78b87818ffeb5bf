package webapi

import (
	"bytes"
	"cmp"
	"encoding/binary"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf16"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// redactedMark replaces a secret.
const redactedMark = "[secret]"

// shortSecret is the minimum length, in bytes, of a secret to redact. Shorter ones occur inside
// ordinary words.
const shortSecret = 6

// secretTexts are the credential texts to redact in responses, because servers echo requests. The
// longest come first, so that no part of one remains after another.
type secretTexts []string

// addedSecrets returns the secrets that authorization added to a request.
func addedSecrets(headers http.Header, query string, req *http.Request) secretTexts {
	var s secretTexts
	for name, values := range req.Header {
		for _, value := range values {
			if slices.Contains(headers[name], value) {
				continue
			}
			s = s.withValue(value)
			if _, token, found := strings.Cut(value, " "); found {
				s = s.withValue(token)
			}
		}
	}
	if len(headers["Cookie"]) == 0 { // login by cookies excludes cookie parameters
		for _, c := range req.Cookies() {
			s = s.withValue(c.Value)
		}
	}
	if before, err := url.ParseQuery(query); err == nil && req.URL.RawQuery != query {
		for name, values := range req.URL.Query() {
			for _, value := range values {
				if !slices.Contains(before[name], value) {
					s = s.withValue(value)
				}
			}
		}
	}
	return secretTexts(sanitize.SecretEncodings(s)).concat(nil)
}

// concat returns the elements of both, longest first, without duplicates.
func (s secretTexts) concat(more secretTexts) secretTexts {
	all := slices.Concat(s, more)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

func (s secretTexts) withValue(value string) secretTexts {
	if len(value) < shortSecret {
		return s
	}
	return append(s, value)
}

// isIn reports whether a binary body contains a secret, as it is or in UTF-16 of either byte
// order.
func (s secretTexts) isIn(body []byte) bool {
	return slices.ContainsFunc(s, func(secret string) bool {
		little, big := make([]byte, 0, 2*len(secret)), make([]byte, 0, 2*len(secret))
		for _, unit := range utf16.Encode([]rune(secret)) {
			little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
		}
		return bytes.Contains(body, []byte(secret)) || bytes.Contains(body, little) || bytes.Contains(body, big)
	})
}

// hide replaces the secrets in a text.
func (s secretTexts) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redactedMark)
	}
	return text
}
