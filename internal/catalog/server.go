package catalog

import (
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Limits on the start of a server.
const (
	maxServerArgs = 100
	maxServerText = 4096 // bytes of the command, of an argument, of the folder
)

// serverPlatforms returns the platforms of MCP servers; "web" is for remote servers.
func serverPlatforms() []string { return []string{"linux", "macos", "windows", "web"} }

// mcpToolReader reads the address of an MCP server: a command that starts it, or a URL. The
// server lists its tools itself, unless the section lists some.
func (p *parser) mcpToolReader(s *section, m *members) toolReader {
	s.fromServer = true
	auth := s.outer.take("auth")
	s.Command, s.URL = m.text("command"), m.text("url")
	s.Args, s.Env = m.texts("args", maxServerArgs), m.envNames()
	s.Dir = m.text("cwd")
	s.Headers = p.headers(m, "default_headers")
	switch {
	case p.o.Origin != "":
		p.fault(m.node.Path(), "is an MCP server; only a descriptor that a person placed on this computer may name one")
	case s.Command == "" && s.URL == "":
		p.fault(m.pathOf("command"), `missing; an MCP server needs a "command" that starts it, or the "url" where it is`)
	case s.Command != "" && s.URL != "":
		p.fault(m.pathOf("url"), `is given beside "command"; a server has one of them`)
	case s.URL != "":
		p.serverAddress(s, m)
	default:
		p.serverCommand(s, m)
	}
	if s.URL != "" {
		s.Auth = p.auth(auth, s.URL)
	} else if auth != nil {
		p.fault(auth.Path(), `is for a server with a "url"; a "command" gets its secrets by "env"`)
	}
	recipe := aai.MCPRecipe{Command: s.Command, Args: s.Args, Env: s.Env, Dir: s.Dir, URL: s.URL,
		Headers: s.Headers, Auth: s.Auth}
	s.server = &aai.Recipe{Kind: "mcp", App: p.doc.ID, Platform: s.Platform, MCP: &recipe}
	return func(_ *members, r *aai.Recipe) {
		own := recipe
		own.Tool = r.Tool
		r.MCP = &own
	}
}

func (p *parser) serverAddress(s *section, m *members) {
	if !secureEndpoint(s.URL) {
		p.fault(m.pathOf("url"), "is %q; expected an https URL without user and fragment", aai.CleanLabel(s.URL, 2*maxName))
	}
	for _, name := range sortedNames(s.Headers) {
		p.serverText(joinPath(m.pathOf("default_headers"), name, -1), s.Headers[name], s.Env)
	}
	for _, name := range []string{"args", "cwd"} {
		if m.has(name) {
			p.fault(m.pathOf(name), `goes with "command", not with "url"`)
		}
	}
}

func (p *parser) serverCommand(s *section, m *members) {
	if s.Platform == "web" {
		p.fault(m.pathOf("command"), `is for a computer; on the web a server has a "url"`)
	}
	if m.has("default_headers") {
		p.fault(m.pathOf("default_headers"), `goes with "url", not with "command"`)
	}
	p.serverText(m.pathOf("command"), s.Command, nil)
	p.serverText(m.pathOf("cwd"), s.Dir, nil)
	for i, arg := range s.Args {
		p.serverText(joinPath(m.pathOf("args"), "", i), arg, s.Env)
	}
}

// serverText checks a text of a server's command line. A "${NAME}" in it must be one of the
// names.
func (p *parser) serverText(path, value string, names []string) {
	if strings.ContainsRune(value, 0) || len(value) > maxServerText {
		p.fault(path, "has %d bytes or a NUL; expected a text of at most %d", len(value), maxServerText)
	}
	for rest := value; ; {
		_, after, found := strings.Cut(rest, "${")
		name, tail, closed := strings.Cut(after, "}")
		if !found || !closed {
			return
		}
		if !slices.Contains(names, name) {
			p.fault(path, `has "${%s}"; expected a name listed in "env"`, aai.CleanLabel(name, maxName))
			return
		}
		rest = tail
	}
}

// texts returns a member that is a list of strings, or nil if it is absent.
func (m *members) texts(name string, most int) []string {
	n := m.take(name)
	switch {
	case n == nil:
		return nil
	case n.Kind != list:
		m.p.fault(n.Path(), "is %s; expected a list of strings", n.KindName())
		return nil
	case n.Count() > most:
		m.p.fault(n.Path(), "has %d values; expected at most %d", n.Count(), most)
		return nil
	}
	values := make([]string, 0, n.Count())
	for c := n.First; c != nil; c = c.Next {
		if c.Kind != text {
			m.p.fault(c.Path(), "is %s; expected a string", c.KindName())
			continue
		}
		values = append(values, c.Text)
	}
	return values
}

// envNames reads the names of a server's environment variables. The values are never in the file,
// because they may be secrets and the file is not protected.
func (m *members) envNames() []string {
	const expected = `expected a list of names such as ["API_KEY"]; the values are kept elsewhere`
	n := m.take("env")
	if n != nil && n.Kind != list {
		m.p.fault(n.Path(), "is %s; %s", n.KindName(), expected)
		return nil
	}
	names := m.texts("env", maxServerArgs)
	for i, name := range names {
		path := joinPath(m.pathOf("env"), "", i)
		upper := strings.ToUpper(name)
		switch {
		case !validMember(name):
			m.p.fault(path, "is %q; %s", aai.CleanLabel(name, maxName), expected)
		case strings.HasPrefix(upper, "AAI_") || strings.HasPrefix(upper, "AXTERMINATOR_"):
			m.p.fault(path, "is %q, which is the gateway's own; expected another name", aai.CleanLabel(name, maxName))
		case slices.Contains(names[:i], name):
			m.p.fault(path, "is %q, as one before; expected names that differ", name)
		}
	}
	return names
}

func describeMCP(r *aai.Recipe) string {
	words := "MCP server " + r.MCP.URL + CommandLine(r.MCP.Command, r.MCP.Args)
	if r.MCP.Tool != "" {
		words += ": " + r.MCP.Tool
	}
	return words
}

// CommandLine returns a server's command line for people, on one line. A word with a space, a quotation mark or
// an invisible character is quoted.
func CommandLine(command string, args []string) string {
	words := make([]string, 0, 1+len(args))
	for _, word := range append([]string{command}, args...) {
		if command != "" && (word == "" || strings.ContainsAny(word, " \t\n\"'\\") || OneLine(word) != word) {
			word = OneLine(string(encode(word)))
		}
		words = append(words, word)
	}
	return strings.Join(words, " ")
}

// OneLine writes control characters and invisible ones as \u escapes.
func OneLine(text string) string {
	var b strings.Builder
	for _, r := range text {
		if r < ' ' || r == 0x7f {
			fmt.Fprintf(&b, `\u%04x`, r)
			continue
		}
		b.WriteRune(r)
	}
	return sanitize.EscapeInvisible(b.String())
}
