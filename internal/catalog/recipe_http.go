package catalog

import (
	"maps"
	"net/netip"
	"net/url"
	"strings"

	"aai"
)

// httpForm reads tools that are HTTP requests.
func (p *parser) httpForm(m *members) form {
	const expected = `a web app needs a base URL such as "https://api.example.com/v1"`
	base := m.must(expected, "base_url")
	if base != "" && !secureURL(base) {
		p.fault(m.at("base_url"), "is %q; expected an https URL without user, query or fragment", aai.CleanLabel(base, 2*maxName))
	}
	common := p.headers(m, "default_headers")
	return func(tool *members, r *aai.Recipe) {
		h := &aai.HTTPRecipe{Origin: p.o.Origin, BaseURL: base, DefaultHeaders: maps.Clone(common)}
		h.Path = tool.must(`a web tool needs a path such as "/search"`, "path")
		p.requestPath(tool.at("path"), h.Path, r)
		h.Method = p.method(tool)
		h.Headers = p.headers(tool, "headers")
		r.HTTP = h
	}
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
		p.fault(tool.at("method"), "missing; expected %s", oneOf(methods))
		return ""
	}
	if n.kind == text {
		for _, known := range methods {
			if strings.EqualFold(n.text, known) {
				return known
			}
		}
	}
	p.fault(n.path(), "is %s; expected %s", shown(n), oneOf(methods))
	return ""
}

// headers reads request headers and refuses those that are the gateway's to set.
func (p *parser) headers(m *members, key string) map[string]string {
	headers := m.strings(key, " of HTTP headers")
	for _, name := range sortedNames(headers) {
		path := step(m.at(key), name, -1)
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

// forbiddenHeader lists headers that carry credentials, or by which a request
// could be taken for another.
func forbiddenHeader(name string) bool {
	name = strings.ToLower(name)
	switch name {
	case "host", "content-length", "transfer-encoding", "connection", "upgrade", "te", "trailer",
		"authorization", "cookie", "forwarded":
		return true
	}
	return strings.HasPrefix(name, "proxy-") || strings.HasPrefix(name, "x-forwarded-")
}

// secureURL reports whether a URL is https, or http to this computer itself.
func secureURL(s string) bool {
	u, err := url.Parse(s)
	if err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || u.Opaque != "" {
		return false
	}
	if u.Scheme == "http" {
		addr, err := netip.ParseAddr(u.Hostname())
		return u.Hostname() == "localhost" || err == nil && addr.IsLoopback()
	}
	return u.Scheme == "https"
}

// auth checks how a web app wants people to log in. The web driver reads it from
// App.Descriptor.
func (p *parser) auth(n *node) {
	if n == nil {
		return
	}
	m := p.members(n, ` such as {"type": "oauth2", "oauth2": {…}}`)
	kind := m.word("type", "oauth2", "apiKey", "api_key", "appCredential", "app_credential", "cookie", "bearer")
	if kind == "" {
		if n.kind == object && n.member("type") == nil {
			p.fault(m.at("type"), "missing; expected a type such as \"oauth2\"")
		}
		return
	}
	if kind != "oauth2" {
		return
	}
	given := m.take("oauth2")
	if given == nil {
		p.fault(m.at("oauth2"), "missing; expected an object with \"authorization_endpoint\" and \"token_endpoint\"")
		return
	}
	o := p.members(given, "")
	for _, key := range []string{"authorization_endpoint", "token_endpoint"} {
		endpoint := o.must("OAuth 2.1 needs it", key)
		if endpoint != "" && !secureEndpoint(endpoint) {
			p.fault(o.at(key), "is %q; expected an https URL", aai.CleanLabel(endpoint, 2*maxName))
		}
	}
}

// secureEndpoint is secureURL for an address that may have a query.
func secureEndpoint(s string) bool {
	address, _, _ := strings.Cut(s, "?")
	return secureURL(address)
}
