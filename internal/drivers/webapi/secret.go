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

	"aai/internal/hygiene"
)

// hidden stands in the place of a secret.
const hidden = "[secret]"

// shortSecret is how many bytes a secret has at least that is looked for in an
// answer: anything shorter is also a part of other words.
const shortSecret = 6

// secrets are the texts that make the person known to the app, which must not come
// back to a caller: servers repeat in their answers what they were sent. The
// longest come first, so that none leaves a part of another behind.
type secrets []string

// addedSecrets are those that stand in a request and did not before.
func addedSecrets(headers http.Header, query string, req *http.Request) secrets {
	var s secrets
	for name, values := range req.Header {
		for _, value := range values {
			if slices.Contains(headers[name], value) {
				continue
			}
			s = s.with(value)
			if _, token, found := strings.Cut(value, " "); found {
				s = s.with(token)
			}
		}
	}
	if len(headers["Cookie"]) == 0 { // a login by cookies is one whose parameters are none
		for _, c := range req.Cookies() {
			s = s.with(c.Value)
		}
	}
	if before, err := url.ParseQuery(query); err == nil && req.URL.RawQuery != query {
		for name, values := range req.URL.Query() {
			for _, value := range values {
				if !slices.Contains(before[name], value) {
					s = s.with(value)
				}
			}
		}
	}
	return secrets(hygiene.Writings(s)).and(nil)
}

// and returns all of both in their order.
func (s secrets) and(more secrets) secrets {
	all := slices.Concat(s, more)
	slices.SortFunc(all, func(a, b string) int { return cmp.Or(len(b)-len(a), strings.Compare(a, b)) })
	return slices.Compact(all)
}

func (s secrets) with(value string) secrets {
	if len(value) < shortSecret {
		return s
	}
	return append(s, value)
}

// within reports whether one of the secrets is in what is no text: as it is, or in
// UTF-16 of either order.
func (s secrets) within(body []byte) bool {
	return slices.ContainsFunc(s, func(secret string) bool {
		little, big := make([]byte, 0, 2*len(secret)), make([]byte, 0, 2*len(secret))
		for _, unit := range utf16.Encode([]rune(secret)) {
			little, big = binary.LittleEndian.AppendUint16(little, unit), binary.BigEndian.AppendUint16(big, unit)
		}
		return bytes.Contains(body, []byte(secret)) || bytes.Contains(body, little) || bytes.Contains(body, big)
	})
}

// hide takes the secrets out of a text.
func (s secrets) hide(text string) string {
	for _, secret := range s {
		text = strings.ReplaceAll(text, secret, hidden)
	}
	return text
}
