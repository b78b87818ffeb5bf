package catalog

import (
	"cmp"
	"maps"
	"net/http"
	"net/url"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// httpToolReader reads tools that are HTTP requests, and the authentication.
func (p *parser) httpToolReader(s *section, m *members) toolReader {
	const expected = `a web app needs a base URL such as "https://api.example.com/v1"`
	auth := s.outer.take("auth")
	s.BaseURL = m.must(expected, "base_url")
	if s.BaseURL != "" && !secureURL(s.BaseURL) {
		p.fault(m.pathOf("base_url"), "is %q; expected an https URL without user, query or fragment",
			aai.CleanLabel(s.BaseURL, 2*maxName))
	} else if s.BaseURL != "" {
		p.reachable(m.pathOf("base_url"), s.BaseURL)
	}
	s.Auth = p.auth(auth, s.BaseURL)
	p.logins(s)
	s.Headers = p.headers(m, "default_headers")
	return func(tool *members, r *aai.Recipe) {
		h := &aai.HTTPRecipe{Origin: p.o.Origin, BaseURL: s.BaseURL, DefaultHeaders: maps.Clone(s.Headers), Auth: s.Auth}
		h.Path = tool.must(`a web tool needs a path such as "/search"`, "path")
		p.requestPath(tool.pathOf("path"), h.Path, r)
		if r.Event == "" {
			h.Method = p.method(tool)
		} else {
			h.Method, h.Event = http.MethodGet, cmp.Or(tool.text("event"), r.Event)
		}
		h.Headers = p.headers(tool, "headers")
		h.Query = tool.strings("query", " of names and values")
		p.toolAccess(s, tool, h)
		if public := tool.flag("public"); public != nil && *public {
			h.Public, h.Auth = true, nil
		}
		if r.Event == "" {
			h.Send = p.sends(tool, r)
		}
		r.HTTP = h
	}
}

// logins reads the further logins of an app that has several.
func (p *parser) logins(s *section) {
	n := s.outer.take("logins")
	if n == nil {
		return
	}
	m := p.members(n, ` such as {"admin": {"type": "bearer"}}`)
	if n.Kind != object || n.Count() > maxLogins {
		p.fault(n.Path(), "expected an object with at most %d logins", maxLogins)
		return
	}
	s.Logins = make(map[string]*aai.AuthRecipe)
	for c := n.First; c != nil; c = c.Next {
		if !validHeader(c.Name) || len(c.Name) > maxName {
			p.fault(c.Path(), "expected a name without spaces for the login")
		}
		if a := p.auth(m.take(c.Name), s.BaseURL); a != nil {
			a.Login = c.Name
			s.Logins[c.Name] = a
		}
	}
}

const maxLogins = 20

// toolAccess reads the server and the login of a tool that has others than the app. A descriptor
// from the web cannot send a login to another site than its own.
func (p *parser) toolAccess(s *section, tool *members, h *aai.HTTPRecipe) {
	if name := tool.text("login"); name != "" {
		if h.Auth = s.Logins[name]; h.Auth == nil {
			p.fault(tool.pathOf("login"), "is %q; expected a name in \"logins\"", aai.CleanLabel(name, maxName))
		}
	}
	if h.Server = tool.text("base_url"); h.Server == "" {
		return
	}
	p.reachable(tool.pathOf("base_url"), h.Server)
	if !secureURL(h.Server) || p.o.Origin != "" && !netguard.SameSite(hostname(s.BaseURL), hostname(h.Server)) {
		p.fault(tool.pathOf("base_url"), "is %q; expected an https URL of the app's site, without user, query or fragment",
			aai.CleanLabel(h.Server, 2*maxName))
	}
}

// fixedQuery returns the fixed part of a tool's query, for display.
func fixedQuery(h *aai.HTTPRecipe) string {
	query := make(url.Values, len(h.Query))
	for name, value := range h.Query {
		query.Set(name, value)
	}
	if len(query) == 0 {
		return ""
	}
	return "?" + query.Encode()
}

func httpEffect(r *aai.Recipe) aai.Effect {
	if r.HTTP.Method == http.MethodGet || r.HTTP.Method == http.MethodHead {
		return aai.Reads
	}
	return aai.Destroys
}

func (p *parser) requestPath(path, value string, r *aai.Recipe) {
	switch {
	case value == "":
		return
	case !strings.HasPrefix(value, "/") || strings.HasPrefix(value, "//"):
		p.fault(path, "is %q; expected a path that begins with one \"/\"", aai.CleanLabel(value, maxName))
	case strings.ContainsAny(value, "\\?#\r\n\x00") || strings.Contains(value, "/../") || strings.HasSuffix(value, "/.."):
		p.fault(path, "is %q; expected a path without query, fragment and \"..\"", aai.CleanLabel(value, maxName))
	case strings.Contains(value, "${"):
		p.fault(path, "has \"${\"; in a path a parameter is written {name}")
	default:
		p.braced(path, value, "{", r)
	}
}

func (p *parser) method(tool *members) string {
	methods := []string{"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE"}
	n := tool.take("method")
	if n == nil {
		p.fault(tool.pathOf("method"), "missing; expected %s", oneOf(methods))
		return ""
	}
	if n.Kind == text {
		for _, known := range methods {
			if strings.EqualFold(n.Text, known) {
				return known
			}
		}
	}
	p.fault(n.Path(), "is %s; expected %s", quoteScalar(n), oneOf(methods))
	return ""
}

// headers reads request headers and rejects those that the gateway sets itself.
func (p *parser) headers(m *members, key string) map[string]string {
	headers := m.strings(key, " of HTTP headers")
	for _, name := range sortedNames(headers) {
		path := joinPath(m.pathOf(key), name, -1)
		switch {
		case !validHeader(name):
			p.fault(path, "is not the name of an HTTP header")
		case forbiddenHeader(name):
			p.fault(path, "is set by the gateway; a descriptor may not")
		case strings.ContainsAny(headers[name], "\r\n\x00"):
			p.fault(path, "has a line break; expected one line")
		}
	}
	return headers
}

// validHeader checks a token of RFC 9110, section 5.6.2.
func validHeader(name string) bool {
	for i := range len(name) {
		if c := name[i]; !letter(c) && !digit(c) && !strings.ContainsRune("!#$%&'*+-.^_`|~", rune(c)) {
			return false
		}
	}
	return name != ""
}

// forbiddenHeader reports whether a header carries credentials, or could make a request pass for
// another one.
func forbiddenHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer",
		"authorization", "cookie", "forwarded":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "x-forwarded-")
}
