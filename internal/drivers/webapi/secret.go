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

// redactedMark stands in the place of a secret.
const redactedMark = "[secret]"

// shortSecret is how many bytes a secret has at least that is looked for in an
// answer: anything shorter is also a part of other words.
const shortSecret = 6

// secretTexts are the texts that make the person known to the app, which must not come
// back to a caller: servers repeat in their answers what they were sent. The
// longest come first, so that none leaves a part of another behind.
type secretTexts []string

// addedSecrets are those that stand in a request and did not before.
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
	if len(headers["Cookie"]) == 0 { // a login by cookies is one whose parameters are none
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

// concat returns all of both in their order.
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

// isIn reports whether one of the secrets is in what is no text: as it is, or in
// UTF-16 of either order.
func (s secretTexts) isIn(body []byte) bool {
	return slices.ContainsFunc(s, func(secret string) bool {
		little, big := make([]byte, 0, 2*len(secret)), make([]byte, 0, 2*len(secret))
		for _, unit := range utf16.Encode([]rune(secret)) {
			little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
		}
		return bytes.Contains(body, []byte(secret)) || bytes.Contains(body, little) || bytes.Contains(body, big)
	})
}

// hide takes the secrets out of a text.
func (s secretTexts) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, redactedMark)
	}
	return text
}
