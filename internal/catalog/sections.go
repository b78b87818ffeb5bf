package catalog

import (
	"slices"

	"github.com/gybob/aai-gateway"
)

// platformSections reads every known section of "platforms", including those for other platforms,
// so that a descriptor is equally valid everywhere.
func (p *parser) platformSections(n *node) []*section {
	var sections []*section
	if n == nil || n.Kind != object {
		p.members(n, " with a section for each platform")
		return nil
	}
	for c := n.First; c != nil; c = c.Next {
		if p.automations(c.Name) == nil {
			problem := "unknown platform; it is ignored"
			if near := aai.Nearest(c.Name, p.platformNames(), 1); len(near) > 0 {
				problem += ` (did you mean "` + near[0] + `"?)`
			}
			p.warn(c.Path(), "%s", problem)
			continue
		}
		m := p.members(c, " with the tools for this platform")
		if c.Kind == object {
			sections = append(sections, p.platformSection(c.Name, m))
		}
	}
	if len(sections) == 0 && len(p.faults.List) == 0 {
		p.fault(n.Path(), "has no section that this gateway knows; expected one of %s", oneOf(p.platformNames()))
	}
	return sections
}

func (p *parser) platformSection(platform string, m *members) *section {
	s := &section{Section: Section{Platform: platform}, outer: m}
	names := p.automations(platform)
	name := m.word("automation", names...)
	if name == "" {
		name = names[0]
		if m.node.Member("automation") == nil {
			p.warn(m.pathOf("automation"), "missing; taken to be %q", name)
		}
	}
	s.Automation = name
	i := slices.IndexFunc(p.kinds, func(k kind) bool { return k.name == name })
	run := p.kinds[i].read(p, s, m)
	p.readTools(s, run)
	p.readEvents(s, run)
	m.unknown()
	return s
}

// executionSection reads "platform", "execution" and "tools" of the single-platform dialect. It
// returns nil if the tools cannot be read.
func (p *parser) executionSection(root *members) *section {
	platform := root.word("platform", p.platformNames()...)
	where := root.take("execution")
	m := p.members(where, ` such as {"type": "ipc"}`)
	m.requested = append(m.requested, "type")
	if where == nil {
		m.node.Parent, m.node.Name = root.node, "execution"
	}
	e := p.executionType(m, platform)
	if e.read == nil {
		return nil
	}
	switch {
	case platform == "" && root.node.Member("platform") != nil:
		return nil
	case platform == "":
		platform = e.platform
	case e.platform != "" && e.platform != platform:
		p.fault(m.pathOf("type"), "is %q, which is of %s; the descriptor is for %s", e.name, e.platform, platform)
	case e.name == "ipc" && !slices.Contains([]string{"macos", "windows", "linux"}, platform):
		p.fault(m.pathOf("type"), "is \"ipc\", which is of macos, windows and linux; the descriptor is for %s", platform)
	}
	if platform == "" && e.name == "mcp" && m.node.Member("url") != nil {
		platform = "web"
	}
	if platform == "" && (e.name == "ipc" || e.name == "mcp" || where == nil) {
		p.fault(root.pathOf("platform"), "missing; expected %s", oneOf(p.platformNames()))
		return nil
	}
	if e.name == "mcp" && !slices.Contains(serverPlatforms(), platform) {
		p.fault(m.pathOf("type"), "is \"mcp\", which is of %s; the descriptor is for %s", oneOf(serverPlatforms()), platform)
	}
	s := &section{Section: Section{Platform: platform, Automation: e.name}, outer: root}
	run := e.read(p, s, m)
	p.readTools(s, run)
	p.readEvents(s, run)
	m.unknown()
	return s
}

// executionType reads the type, which is optional. Its read is nil if the type is invalid.
func (p *parser) executionType(m *members, platform string) execution {
	known := p.executions()
	names := make([]string, len(known))
	for i, e := range known {
		names[i] = e.name
	}
	name := m.word("type", names...)
	if name == "" && m.node.Member("type") == nil {
		name = "ipc"
		if platform == "web" {
			name = "http"
		}
	}
	for _, e := range known {
		if e.name == name {
			return e
		}
	}
	return execution{}
}

// unsupported reads tools of execution types that are known but not supported.
func (p *parser) unsupported(_ *section, m *members) toolReader {
	for _, key := range []string{"command", "args", "env", "timeout", "start", "cwd"} {
		m.take(key)
	}
	p.warn(m.pathOf("type"), "is %q, which this gateway knows but does not support; the tools cannot be run",
		m.node.Member("type").Text)
	return func(*members, *aai.Recipe) {}
}
