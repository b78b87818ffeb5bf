package catalog

import (
	"slices"

	"aai"
)

// platforms are those the protocol knows, with the ways to automate apps there;
// the first is meant when a section does not say.
func automations(platform string) []string {
	switch platform {
	case "macos":
		return []string{"applescript", "jxa"}
	case "windows":
		return []string{"com"}
	case "linux":
		return []string{"dbus"}
	case "android":
		return []string{"intent"}
	case "ios":
		return []string{"url_scheme"}
	case "web":
		return []string{"http"}
	}
	return nil
}

// platformNames lists the platforms in the order of the protocol.
func platformNames() []string {
	return []string{"macos", "windows", "linux", "android", "ios", "web"}
}

// platformSections reads every known section of "platforms", also those for
// other computers, so that a descriptor is right or wrong everywhere alike.
func (p *parser) platformSections(n *node) []*section {
	var sections []*section
	if n == nil || n.Kind != object {
		p.members(n, " with a section for each platform")
		return nil
	}
	for c := n.First; c != nil; c = c.Next {
		if automations(c.Name) == nil {
			problem := "unknown platform; it is ignored"
			if near := aai.Nearest(c.Name, platformNames(), 1); len(near) > 0 {
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
		p.fault(n.Path(), "has no section that this gateway knows; expected one of %s", oneOf(platformNames()))
	}
	return sections
}

func (p *parser) platformSection(platform string, m *members) *section {
	s := &section{platform: platform}
	ways := automations(platform)
	way := m.word("automation", ways...)
	if way == "" {
		way = ways[0]
		if m.node.Member("automation") == nil {
			p.warn(m.at("automation"), "missing; taken to be %q", way)
		}
	}
	p.readTools(s, m, p.form(s, way, m))
	m.unknown()
	return s
}

// form returns the reader for one way of automation, having read what the
// section says about it for all its tools.
func (p *parser) form(s *section, way string, m *members) form {
	switch way {
	case "applescript", "jxa":
		return p.scriptForm(way)
	case "com":
		return p.comForm(m)
	case "dbus":
		return p.dbusForm(m)
	case "intent":
		return p.intentForm(m)
	case "url_scheme":
		return p.urlForm(m)
	}
	return p.httpForm(s, m, m.take("auth"))
}

// executionSection reads "platform", "execution" and "tools" of the single-
// platform dialect. It returns nil if nothing can be said of the tools.
func (p *parser) executionSection(root *members) *section {
	platform := root.word("platform", platformNames()...)
	given := root.take("execution")
	m := p.members(given, ` such as {"type": "ipc"}`)
	m.asked = append(m.asked, "type")
	if given == nil {
		m.node.Parent, m.node.Name = root.node, "execution"
	}
	way := m.word("type", "ipc", "http", "dbus", "apple-events", "com", "stdio", "acp")
	if way == "" {
		if m.node.Member("type") != nil {
			return nil
		}
		way = "ipc"
		if platform == "web" {
			way = "http"
		}
	}
	implied := impliedPlatform(way)
	switch {
	case platform == "" && root.node.Member("platform") != nil:
		return nil
	case platform == "":
		platform = implied
	case implied != "" && implied != platform:
		p.fault(m.at("type"), "is %q, which is of %s; the descriptor is for %s", way, implied, platform)
	case way == "ipc" && !slices.Contains([]string{"macos", "windows", "linux"}, platform):
		p.fault(m.at("type"), "is \"ipc\", which is of macos, windows and linux; the descriptor is for %s", platform)
	}
	if platform == "" && (way == "ipc" || given == nil) {
		p.fault(root.at("platform"), "missing; expected %s", oneOf(platformNames()))
		return nil
	}
	s := &section{platform: platform, hostOnly: way == "ipc"}
	p.readTools(s, root, p.executionForm(s, way, root, m))
	m.unknown()
	return s
}

// impliedPlatform is the only platform where a type of execution exists.
func impliedPlatform(way string) string {
	switch way {
	case "http":
		return "web"
	case "dbus":
		return "linux"
	case "apple-events":
		return "macos"
	case "com":
		return "windows"
	}
	return ""
}

func (p *parser) executionForm(s *section, way string, root, m *members) form {
	switch way {
	case "http":
		return p.httpForm(s, m, root.take("auth"))
	case "dbus":
		return p.dbusOrEnvelope(m)
	case "com":
		return p.comOrEnvelope(m)
	case "ipc", "apple-events":
		return p.envelopeForm(s.platform, m)
	}
	for _, key := range []string{"command", "args", "env", "timeout", "start", "cwd"} {
		m.take(key)
	}
	p.warn(m.at("type"), "is %q, which this gateway knows but does not support; the tools cannot be run", way)
	return func(*members, *aai.Recipe) {}
}
