package oauth

import "strings"

// challenge is one authentication scheme that an API accepts (RFC 9110, section 11.6.1). Its
// parameter names are in lower case.
type challenge struct {
	scheme string // in lower case
	params map[string]string
}

// parseChallenges parses the values of WWW-Authenticate. It skips invalid parts, and keeps the
// first of duplicate parameters.
func parseChallenges(values []string) []challenge {
	var list []challenge
	for _, value := range values {
		r := challengeReader{rest: value}
		list = append(list, r.challenges()...)
	}
	return list
}

// challengeReader reads one value from its beginning.
type challengeReader struct{ rest string }

func (r *challengeReader) challenges() []challenge {
	var list []challenge
	for {
		r.skip(" \t,")
		name := r.token()
		if name == "" {
			return list // end of the value, or invalid
		}
		r.skip(" \t")
		if len(list) > 0 && strings.HasPrefix(r.rest, "=") && !strings.HasPrefix(r.rest, "==") {
			r.rest = r.rest[1:]
			r.skip(" \t")
			value, ok := r.value()
			if !ok {
				return list
			}
			name = strings.ToLower(name)
			if _, given := list[len(list)-1].params[name]; !given {
				list[len(list)-1].params[name] = value
			}
			continue
		}
		if strings.HasPrefix(r.rest, "=") { // padding of a token68, or no scheme
			r.skip("=")
			continue
		}
		if len(list) > 0 && (r.rest == "" || r.rest[0] == ',') && list[len(list)-1].params != nil &&
			len(list[len(list)-1].params) == 0 && looksLikeToken68(name) {
			continue // such as "Negotiate abc"
		}
		list = append(list, challenge{strings.ToLower(name), make(map[string]string)})
	}
}

// looksLikeToken68 distinguishes credentials from schemes, which have short names.
func looksLikeToken68(s string) bool { return len(s) > 20 || strings.ContainsAny(s, "+._~") }

func (r *challengeReader) skip(chars string) { r.rest = strings.TrimLeft(r.rest, chars) }

// token reads a token of RFC 9110, section 5.6.2, or the characters of a token68.
func (r *challengeReader) token() string {
	n := 0
	for n < len(r.rest) && isTokenChar(r.rest[n]) {
		n++
	}
	name := r.rest[:n]
	r.rest = r.rest[n:]
	return name
}

func isTokenChar(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' ||
		strings.IndexByte("!#$%&'*+-.^_`|~/", c) >= 0
}

// value reads a token or a quoted string.
func (r *challengeReader) value() (string, bool) {
	if !strings.HasPrefix(r.rest, `"`) {
		v := r.token()
		return v, v != ""
	}
	var b strings.Builder
	for i := 1; i < len(r.rest); i++ {
		switch c := r.rest[i]; c {
		case '"':
			r.rest = r.rest[i+1:]
			return b.String(), true
		case '\\':
			i++
			if i < len(r.rest) {
				b.WriteByte(r.rest[i])
			}
		default:
			b.WriteByte(c)
		}
	}
	return "", false
}
