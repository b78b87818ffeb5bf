package openapi

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"aai"
	"aai/internal/site"
)

// server is the base URL of the API's calls.
func (m *maker) server() (string, error) {
	raw, said := m.o.Server, "server"
	if raw == "" {
		said = "servers[0].url"
		if len(m.api.Servers) == 0 || m.api.Servers[0] == nil {
			raw = "/"
		} else {
			raw = filled(m.api.Servers[0])
		}
	}
	u, err := url.Parse(raw)
	if err == nil && !u.IsAbs() && m.o.Address != "" {
		var from *url.URL
		if from, err = url.Parse(m.o.Address); err == nil {
			u = from.ResolveReference(u)
		}
	}
	expected := `an https address such as "https://api.example.com/v1"`
	var e *aai.Error
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" || strings.ContainsAny(raw, "{}"):
		e = bad(said, "is "+quoted(raw), expected)
	case u.Scheme != "https" && (u.Scheme != "http" || !site.Loopback(u.Hostname())):
		e = bad(said, "is "+quoted(raw)+", which is not encrypted", expected+", or http to this computer itself")
	case m.o.Server == "" && m.strange(u):
		e = bad(said, "is "+quoted(raw)+", an address of this computer, in a document from elsewhere", expected)
	}
	if e != nil {
		e.Hint = "Say where the API is: --server https://HOST/PATH"
		return "", e
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// strange reports whether a document from the web names a place on this computer.
func (m *maker) strange(u *url.URL) bool {
	from, err := url.Parse(m.o.Address)
	return m.o.Address != "" && (err != nil || site.Intrudes(from.Hostname(), u.Hostname()))
}

// filled is a server's address with its variables' usual values.
func filled(s *openapi3.Server) string {
	raw := s.URL
	for name, variable := range s.Variables {
		if variable != nil && variable.Default != "" {
			raw = strings.ReplaceAll(raw, "{"+name+"}", variable.Default)
		}
	}
	return raw
}

// elsewhere reports whether an operation is at another server than the API.
func (m *maker) elsewhere(op *operation) bool {
	servers := op.item.Servers
	if op.Servers != nil && len(*op.Servers) > 0 {
		servers = *op.Servers
	}
	if len(servers) == 0 || servers[0] == nil {
		return false
	}
	raw := strings.TrimSuffix(filled(servers[0]), "/")
	return !slices.ContainsFunc(m.api.Servers, func(s *openapi3.Server) bool { return s != nil && strings.TrimSuffix(filled(s), "/") == raw }) &&
		raw != m.section.BaseURL
}

// identity says who the app is.
func (m *maker) identity(base string) error {
	info := m.api.Info
	if info == nil {
		info = &openapi3.Info{}
	}
	m.doc.Name = aai.CleanLabel(strings.ReplaceAll(info.Title, "|", " "), maxName)
	u, err := url.Parse(base)
	if err != nil {
		return bad("server", "is "+quoted(base), "an address")
	}
	if m.doc.Name == "" {
		m.doc.Name = u.Hostname()
	}
	m.doc.Description = firstWords(info.Description, maxText)
	if m.doc.Description == "" {
		m.doc.Description = m.doc.Name + " over HTTP"
	}
	m.doc.Version = aai.CleanLabel(info.Version, maxName)
	m.doc.ID = m.o.ID
	if m.doc.ID == "" {
		m.doc.ID = idOf(u.Hostname(), m.doc.Name)
	}
	return nil
}

// idOf is the id of the app at a host: that in reverse, or one by the app's name where the host
// is no name of the web's.
func idOf(host, name string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	if net.ParseIP(host) == nil && len(labels) > 1 && !site.Loopback(host) {
		slices.Reverse(labels)
		id := strings.Join(labels, ".")
		if first := id[0]; first >= 'a' && first <= 'z' && !strings.ContainsFunc(id, func(r rune) bool { return !isNameRune(r) && r != '.' }) {
			return id
		}
	}
	slug := strings.Trim(strings.ToLower(nameOf(name)), "_")
	if slug == "" {
		slug = "app"
	}
	return "api." + slug
}

func quoted(s string) string { return "\"" + aai.CleanLabel(s, 100) + "\"" }
