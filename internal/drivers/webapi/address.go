package webapi

import (
	"net/url"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// address is a base URL and the template of a path below it.
type address struct {
	scheme, host string
	origin       string    // scheme, host and port, as shown to the user
	base         []string  // path segments of the base URL, decoded
	segments     []segment // path segments of the tool
	params       []string  // parameters in the path
}

// segment is the text between two slashes of a path.
type segment []piece

// piece is a decoded text or the value of a parameter.
type piece struct{ text, param string }

func newAddress(r *aai.Recipe) (*address, error) {
	a, err := newBase(r.HTTP.Address(), r.HTTP.Origin)
	if err != nil {
		return nil, err
	}
	return a, a.setPath(r)
}

// newBase parses a base URL. It accepts https, and http to this computer. A descriptor from
// another host must not name this computer.
func newBase(base, descriptor string) (*address, error) {
	const expected = "an https URL such as https://api.example.com/v1"
	u, err := url.Parse(base)
	switch {
	case err != nil, u.Host == "", u.Opaque != "", u.User != nil, u.RawQuery != "", u.ForceQuery, u.Fragment != "":
		return nil, invalid("base_url", expected+", without user, query and fragment", withoutUserinfo(base))
	case u.Scheme != "https" && (u.Scheme != "http" || !netguard.IsLoopback(u.Hostname())):
		return nil, invalid("base_url", expected+", or http to this computer itself", base)
	case !plainHost(u.Host):
		return nil, invalid("base_url", expected+", with the host in ASCII", base)
	case descriptor != "" && netguard.CrossesToLoopback(hostname(descriptor), u.Hostname()):
		return nil,
			invalid("base_url", "an address outside this computer, in a descriptor from "+aai.CleanLabel(descriptor, 100), base)
	}
	a := &address{scheme: u.Scheme, host: u.Host, origin: netguard.Origin(u)}
	path := strings.TrimSuffix(u.EscapedPath(), "/")
	if path == "" {
		return a, nil
	}
	for _, raw := range strings.Split(path, "/")[1:] {
		text, err := url.PathUnescape(raw)
		if err != nil || text == "" || escapesPath(text) {
			return nil, invalid("base_url", "a path without empty segments, \".\" and \"..\"", base)
		}
		a.base = append(a.base, text)
	}
	return a, nil
}

// withoutUserinfo removes the user information, which may hold a password, from a URL.
func withoutUserinfo(s string) string {
	if scheme, rest, found := strings.Cut(s, "://"); found {
		if _, after, has := strings.Cut(rest, "@"); has {
			return scheme + "://…@" + after
		}
	}
	return s
}

// hostname returns the host of an origin, or "" if the origin is not a URL.
func hostname(origin string) string {
	u, err := url.Parse(origin)
	if err != nil {
		return ""
	}
	return u.Hostname()
}

// plainHost reports whether a host is plain ASCII. It rejects other scripts, zones and escapes,
// because those can display a different host.
func plainHost(host string) bool {
	for i := range len(host) {
		c := host[i]
		if c != '.' && c != '-' && c != '_' && c != ':' && c != '[' && c != ']' && (c < '0' || c > '9') &&
			(c|0x20 < 'a' || c|0x20 > 'z') {
			return false
		}
	}
	return true
}

// escapesPath reports whether a text could leave its place in a path. It covers servers that treat
// an encoded slash or a backslash as a slash.
func escapesPath(text string) bool {
	if text == "." {
		return true
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '/' || r == '\\' })
	return slices.Contains(parts, "..")
}

// setPath parses the tool's path, in which {name} stands for a parameter's value.
func (a *address) setPath(r *aai.Recipe) error {
	path := r.HTTP.Path
	if !strings.HasPrefix(path, "/") || strings.HasPrefix(path, "//") || strings.ContainsAny(path, "\\?#\r\n\x00") {
		return invalid("path", `a path that begins with one "/", without query and fragment`, path)
	}
	for _, raw := range strings.Split(path, "/")[1:] {
		s, err := newSegment(raw, r)
		if err != nil {
			return err
		}
		if text, fixed := s.fixed(); fixed && escapesPath(text) {
			return invalid("path", `a path without "." and ".."`, path)
		}
		for _, p := range s {
			if p.param != "" && !slices.Contains(a.params, p.param) {
				a.params = append(a.params, p.param)
			}
		}
		a.segments = append(a.segments, s)
	}
	return nil
}

func newSegment(raw string, r *aai.Recipe) (segment, error) {
	var s segment
	for raw != "" {
		before, rest, found := strings.Cut(raw, "{")
		text, err := url.PathUnescape(before)
		if err != nil || strings.ContainsAny(text, "}\x00") {
			return nil, invalid("path", "text, %XX and {parameter}", r.HTTP.Path)
		}
		if text != "" {
			s = append(s, piece{text: text})
		}
		if !found {
			break
		}
		name, after, closed := strings.Cut(rest, "}")
		if !closed || !slices.Contains(r.Params, name) {
			return nil, invalid("path", "every {name} to be one of the parameters", "{"+name)
		}
		s = append(s, piece{param: name})
		raw = after
	}
	return s, nil
}

// fixed returns the text of a segment without parameters.
func (s segment) fixed() (text string, fixed bool) {
	for _, p := range s {
		if p.param != "" {
			return "", false
		}
		text += p.text
	}
	return text, true
}

// fill builds the URL of a call. Its error is INVALID_PARAMS and names the parameter.
func (t *tool) fill(args map[string]any) (*url.URL, error) {
	a := t.address
	plain, escaped := slices.Clone(a.base), []string{}
	for _, text := range a.base {
		escaped = append(escaped, escapeFixed(text))
	}
	for _, s := range a.segments {
		text, raw, err := t.fillSegment(s, args)
		if err != nil {
			return nil, err
		}
		plain, escaped = append(plain, text), append(escaped, raw)
	}
	u := &url.URL{
		Scheme: a.scheme, Host: a.host,
		Path: "/" + strings.Join(plain, "/"), RawPath: "/" + strings.Join(escaped, "/"),
	}
	return u, a.check(u, len(escaped))
}

// escapeFixed encodes a text of the descriptor for a segment. It leaves the characters that a segment
// may have, for servers that compare paths before they decode them.
func escapeFixed(text string) string {
	return strings.NewReplacer("%21", "!", "%27", "'", "%28", "(", "%29", ")", "%2A", "*", "%2C", ",", "%3B", ";").
		Replace(url.PathEscape(text))
}

// check verifies that no value changed the host, the path or its number of segments. The
// construction already ensures it; check guards against sending a request elsewhere.
func (a *address) check(u *url.URL, segments int) error {
	again, err := url.Parse(u.String())
	if err != nil || again.Scheme != a.scheme || again.Host != a.host || again.User != nil ||
		again.EscapedPath() != u.RawPath || strings.Count(u.RawPath, "/") != segments {
		return aai.Errorf(aai.Internal, "the arguments make an invalid address for a call to %s", a.origin)
	}
	return nil
}

// fillSegment returns a segment with the arguments of a call, plain and escaped.
func (t *tool) fillSegment(s segment, args map[string]any) (text, raw string, err error) {
	var b, escaped strings.Builder
	for _, p := range s {
		if p.param == "" {
			b.WriteString(p.text)
			escaped.WriteString(escapeFixed(p.text))
			continue
		}
		value, given := args[p.param]
		one, scalar := scalarText(value)
		name := aai.CleanLabel(p.param, 60)
		if !given || value == nil || scalar && one == "" {
			return "", "", aai.Errorf(aai.InvalidParams, "%s: expected a value; it is part of the request's path", name)
		}
		spelled, err := t.placeOf(p.param).inPath(value)
		if err != nil {
			return "", "", aai.Errorf(aai.InvalidParams, "%s: %s for the request's path, got %s", name, err, describe(value))
		}
		plain, err := url.PathUnescape(spelled)
		if err != nil || strings.Contains(plain, "\x00") || escapesPath(plain) {
			return "", "",
				aai.Errorf(aai.InvalidParams, `%s: expected a value without NUL, "." and ".." for the request's path`, name)
		}
		b.WriteString(plain)
		escaped.WriteString(spelled)
	}
	if escapesPath(b.String()) {
		return "", "",
			aai.Errorf(aai.InvalidParams, `the parameters make %q in the request's path; expected a name`, b.String())
	}
	return b.String(), escaped.String(), nil
}
