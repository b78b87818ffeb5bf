package catalog

import (
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	maxID      = 200 // bytes of an app's id
	maxAliases = 20
)

// identity reads the app's id, name, description and aliases.
func (p *parser) identity(m *members, idKeys ...string) {
	const expected = `expected a reverse DNS name such as "org.example.Mail"`
	id := m.must(expected, idKeys...)
	switch {
	case id == "":
	case validID(id):
		p.doc.ID = id
	default:
		p.fault(m.pathOf(idKeys...), "is %q; %s, of at most %d bytes", aai.CleanLabel(id, maxName), expected, maxID)
	}
	p.name(m)
	p.doc.Description = aai.CleanText(m.text("description"), maxText)
	if p.doc.Description == "" {
		p.warn(m.pathOf("description"), "missing; agents choose apps by it")
	}
	if aliases := m.take("aliases"); aliases != nil {
		p.aliases(aliases)
	}
}

// validID reports whether an id is reverse DNS: at least two parts of letters, digits, "_" and "-", joined by dots.
// It begins with a letter. The gateway's own ids have no dot, so no descriptor can take them.
func validID(id string) bool {
	if id == "" || len(id) > maxID || !letter(id[0]) {
		return false
	}
	parts := strings.Split(id, ".")
	for _, part := range parts {
		if part == "" || part[0] == '-' {
			return false
		}
		for i := range len(part) {
			if c := part[i]; c != '_' && c != '-' && !letter(c) && !digit(c) {
				return false
			}
		}
	}
	return len(parts) >= 2
}

// name reads the app's name in its historical forms: "Mail", "Mail|邮件" and {"en": "Mail", "zh":
// "邮件"} with "defaultLang", or {"default": "Mail", …}.
func (p *parser) name(m *members) {
	const expected = "expected the app's name for people"
	n := m.take("name")
	first := m.text("default_lang")
	if n == nil {
		p.fault(m.pathOf("name"), "missing; %s", expected)
		return
	}
	var names []string
	switch n.Kind {
	case text:
		names = strings.Split(n.Text, "|")
	case object:
		names = p.names(n, first)
	default:
		p.fault(n.Path(), "is %s; expected a string or an object of names by language", n.KindName())
		return
	}
	p.doc.Name = joinNames(names)
	if p.doc.Name == "" {
		p.fault(n.Path(), "empty; %s", expected)
	}
}

// names reads an object whose keys are languages and whose values are names. It returns the names, that of
// the default language first; language is the default unless the object names another.
func (p *parser) names(n *node, language string) []string {
	var names []string
	for c := n.First; c != nil; c = c.Next {
		if c.Kind != text {
			p.fault(c.Path(), "is %s; expected a name", c.KindName())
			continue
		}
		if isDefaultKey(c.Name) && n.Member(c.Text) != nil {
			language = c.Text // names a language instead of being a name
			continue
		}
		if isDefaultKey(c.Name) {
			names = slices.Insert(names, 0, c.Text)
			continue
		}
		names = append(names, c.Text)
	}
	if d := n.Member(language); d != nil && d.Kind == text {
		names = slices.Insert(names, 0, d.Text)
	}
	return names
}

func isDefaultKey(key string) bool {
	return key == "default" || key == "defaultLang" || key == "default_lang"
}

// joinNames cleans the names, removes duplicates and joins them with "|". It keeps as many as fit into 2*maxName
// bytes.
func joinNames(names []string) string {
	var kept []string
	size := 0
	for _, name := range names {
		name = aai.CleanLabel(strings.ReplaceAll(name, "|", " "), maxName)
		if name == "" || slices.Contains(kept, name) {
			continue
		}
		if size += len(name) + 1; size > 2*maxName && len(kept) > 0 {
			break
		}
		kept = append(kept, name)
	}
	return strings.Join(kept, "|")
}

// aliases reads the app's other names into the document, at most maxAliases.
func (p *parser) aliases(n *node) {
	if n.Kind != list {
		p.fault(n.Path(), "is %s; expected a list of names", n.KindName())
		return
	}
	for c := n.First; c != nil; c = c.Next {
		if c.Kind != text {
			p.fault(c.Path(), "is %s; expected a name", c.KindName())
			continue
		}
		alias := aai.CleanLabel(c.Text, maxName)
		switch {
		case alias == "":
			p.warn(c.Path(), "empty; it is ignored")
		case len(p.doc.Aliases) >= maxAliases:
			p.warn(c.Path(), "one of more than %d aliases; it is ignored", maxAliases)
		case !slices.Contains(p.doc.Aliases, alias):
			p.doc.Aliases = append(p.doc.Aliases, alias)
		}
	}
}
