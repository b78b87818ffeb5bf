package importers

import (
	"cmp"
	"fmt"
	"maps"
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
	base, e := m.address(raw, said)
	if e != nil {
		e.Hint = "Say where the API is: --server https://HOST/PATH"
		return "", e
	}
	return base, nil
}

// address returns a base URL without a slash at its end. said is the place of raw, which may be
// relative to the document.
func (m *apiConverter) address(raw, said string) (string, *aai.Error) {
	u, err := url.Parse(raw)
	if beside := cmp.Or(m.options.Address, m.section.BaseURL); err == nil && !u.IsAbs() && beside != "" {
		var from *url.URL
		if from, err = url.Parse(beside); err == nil {
			u = from.ResolveReference(u)
		}
	}
	expected := `an https address such as "https://api.example.com/v1"`
	switch {
	case err != nil || u.Host == "" || u.User != nil || u.RawQuery != "" || u.Fragment != "" ||
		strings.ContainsAny(raw, "{}"):
		return "", documentError(said, "is "+quotedField(raw), expected)
	case u.Scheme != "https" && (u.Scheme != "http" || !netguard.IsLoopback(u.Hostname())):
		return "", documentError(said, "is "+quotedField(raw)+", which is not encrypted",
			expected+", or http to this computer itself")
	case m.options.Server == "" && m.isForeignLoopback(u):
		return "", documentError(said, "is "+quotedField(raw)+", an address of this computer, in a document from elsewhere",
			expected)
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

// serverOf returns the base URL of an operation that is at another server than the API, or "", or
// why it cannot be called there.
func (m *apiConverter) serverOf(op *operation) (base, why string) {
	servers := op.item.Servers
	if op.Servers != nil && len(*op.Servers) > 0 {
		servers = *op.Servers
	}
	for _, s := range servers {
		if s == nil {
			continue
		}
		raw := resolveServerVariables(s)
		if slices.ContainsFunc(m.api.Servers, func(all *openapi3.Server) bool {
			return all != nil && strings.TrimSuffix(resolveServerVariables(all), "/") == strings.TrimSuffix(raw, "/")
		}) {
			return "", ""
		}
		at, err := m.address(raw, "its server")
		switch {
		case err == nil && at == m.section.BaseURL:
			return "", ""
		case err == nil && base == "":
			base = at
		case err != nil && why == "":
			why = err.Message
		}
	}
	if base != "" {
		why = ""
	}
	return base, why
}

// noteAccess notes the further logins and servers of the tools.
func (m *apiConverter) noteAccess() {
	servers := make(map[string]int)
	for _, tool := range m.section.Tools {
		if at := tool.Recipe.HTTP.Server; at != "" {
			servers[at]++
		}
	}
	for _, at := range slices.Sorted(maps.Keys(servers)) {
		m.note(fmt.Sprintf("at another server, %s: %s", at, aai.Count(servers[at], "tool")))
	}
	for _, name := range slices.Sorted(maps.Keys(m.login.further)) {
		m.note("some tools need a login of their own: aai-gateway auth login " + m.doc.ID + " --login " + name)
	}
}

// hostOf returns the host of an address, with its port.
func hostOf(address string) string {
	u, err := url.Parse(address)
	if err != nil {
		return ""
	}
	return u.Host
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
