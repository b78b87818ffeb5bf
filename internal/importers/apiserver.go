package importers

import (
	"net"
	"net/url"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// server returns the base URL of the API's calls.
func (m *apiConverter) server() (string, error) {
	raw, said := m.options.Server, "server"
	if raw == "" {
		said = "servers[0].url"
		if len(m.api.Servers) == 0 || m.api.Servers[0] == nil {
			raw = "/"
		} else {
			raw = resolveServerVariables(m.api.Servers[0])
		}
	}
	u, err := url.Parse(raw)
	if err == nil && !u.IsAbs() && m.options.Address != "" {
		var from *url.URL
		if from, err = url.Parse(m.options.Address); err == nil {
			u = from.ResolveReference(u)
		}
	}
	expected := `an https address such as "https://api.example.com/v1"`
	var e *aai.Error
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsAny(raw, "{}"):
		e = documentError(said, "is "+quotedField(raw), expected)
	case u.Scheme != "https" && (u.Scheme != "http" || !netguard.IsLoopback(u.Hostname())):
		e = documentError(said, "is "+quotedField(raw)+", which is not encrypted",
			expected+", or http to this computer itself")
	case m.options.Server == "" && m.isForeignLoopback(u):
		e = documentError(said, "is "+quotedField(raw)+", an address of this computer, in a document from elsewhere",
			expected)
	}
	if e != nil {
		e.Hint = "Say where the API is: --server https://HOST/PATH"
		return "", e
	}
	return strings.TrimSuffix(u.String(), "/"), nil
}

// isForeignLoopback reports whether a document from the web names a server on this computer.
func (m *apiConverter) isForeignLoopback(u *url.URL) bool {
	from, err := url.Parse(m.options.Address)
	return m.options.Address != "" && (err != nil || netguard.CrossesToLoopback(from.Hostname(), u.Hostname()))
}

// resolveServerVariables returns a server's URL with the default values of its variables.
func resolveServerVariables(s *openapi3.Server) string {
	raw := s.URL
	for name, variable := range s.Variables {
		if variable != nil && variable.Default != "" {
			raw = strings.ReplaceAll(raw, "{"+name+"}", variable.Default)
		}
	}
	return raw
}

// isOtherServer reports whether an operation is at another server than the API.
func (m *apiConverter) isOtherServer(op *operation) bool {
	servers := op.item.Servers
	if op.Servers != nil && len(*op.Servers) > 0 {
		servers = *op.Servers
	}
	if len(servers) == 0 || servers[0] == nil {
		return false
	}
	raw := strings.TrimSuffix(resolveServerVariables(servers[0]), "/")
	return !slices.ContainsFunc(m.api.Servers, func(s *openapi3.Server) bool {
		return s != nil && strings.TrimSuffix(resolveServerVariables(s), "/") == raw
	}) &&
		raw != m.section.BaseURL
}

// identity sets the app's id, name and description.
func (m *apiConverter) identity(base string) error {
	info := m.api.Info
	if info == nil {
		info = &openapi3.Info{}
	}
	m.doc.Name = aai.CleanLabel(strings.ReplaceAll(info.Title, "|", " "), maxName)
	u, err := url.Parse(base)
	if err != nil {
		return documentError("server", "is "+quotedField(base), "an address")
	}
	if m.doc.Name == "" {
		m.doc.Name = u.Hostname()
	}
	m.doc.Description = firstWords(info.Description, maxText)
	if m.doc.Description == "" {
		m.doc.Description = m.doc.Name + " over HTTP"
	}
	m.doc.Version = aai.CleanLabel(info.Version, maxName)
	m.doc.ID = m.options.ID
	if m.doc.ID == "" {
		m.doc.ID = idOf(u.Hostname(), m.doc.Name)
	}
	return nil
}

// idOf returns the id of the app at a host: the reversed host name, or an id based on the app's
// name if the host is an IP address or local.
func idOf(host, name string) string {
	labels := strings.Split(strings.ToLower(host), ".")
	if net.ParseIP(host) == nil && len(labels) > 1 && !netguard.IsLoopback(host) {
		slices.Reverse(labels)
		id := strings.Join(labels, ".")
		if first := id[0]; first >= 'a' && first <= 'z' &&
			!strings.ContainsFunc(id, func(r rune) bool { return !isNameRune(r) && r != '.' }) {
			return id
		}
	}
	slug := strings.Trim(strings.ToLower(nameOf(name)), "_")
	if slug == "" {
		slug = "app"
	}
	return "api." + slug
}

func quotedField(s string) string { return "\"" + aai.CleanLabel(s, 100) + "\"" }
