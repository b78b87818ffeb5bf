package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

// Limits of a descriptor's events.
const (
	maxAppEvents   = 100
	maxEventFields = 50
)

// readEvents reads the list of events that the app reports. An event is written as a tool that runs in the same way, with
// a signal or a stream in the place of the call.
func (p *parser) readEvents(s *section, run toolReader) {
	n := s.outer.take("events")
	switch {
	case n == nil:
		return
	case n.Kind != list || n.Count() > maxAppEvents:
		p.fault(n.Path(), "is %s; expected a list of at most %d events", n.KindName(), maxAppEvents)
		return
	}
	seen := map[string]*members{}
	for _, tool := range s.Tools {
		if tool.Name == aai.EventsTool {
			p.fault(n.Path(), "the app has a tool %q, the name of the tool that reads the events; rename it", tool.Name)
			return
		}
	}
	for c := n.First; c != nil; c = c.Next {
		m := p.members(c, " that describes an event")
		d := ToolDeclaration{Name: p.toolName(m, seen), Description: aai.CleanText(m.text("description"), maxText)}
		if d.Description == "" {
			p.warn(m.pathOf("description"), "missing; agents learn from it what happened")
		}
		if slices.Contains([]string{events.Lost, events.Ended, events.Started}, d.Name) {
			p.fault(m.pathOf("name"), "is %q, an event of every app; expected another name", d.Name)
		}
		if e := m.take("execution"); e != nil {
			m.fallback = p.members(e, "")
		}
		d.Recipe = &aai.Recipe{App: p.doc.ID, Event: cmp.Or(d.Name, "event"), Platform: s.Platform}
		run(m, d.Recipe)
		k := kindOf(p.kinds, d.Recipe)
		if d.Recipe.Kind = k.name; d.Recipe.DBus == nil && d.Recipe.HTTP == nil {
			p.fault(m.node.Path(), "events are of D-Bus and of the web; the tools of this app run in another way")
		}
		d.Recipe.Start = "" // to listen starts no app
		m.unknown()
		s.Events = append(s.Events, d)
	}
}

// fieldNames reads the names of an event's values, by position.
func (p *parser) fieldNames(m *members) (names []string) {
	n := m.take("fields")
	if n == nil {
		return nil
	}
	if n.Kind != list || n.Count() > maxEventFields {
		p.fault(n.Path(), "is %s; expected a list of at most %d names", n.KindName(), maxEventFields)
		return nil
	}
	for c := n.First; c != nil; c = c.Next {
		if c.Kind != text || !validToolName(cmp.Or(c.Text, "0")) || slices.Contains(names, c.Text) {
			p.fault(c.Path(), "is %s; expected a name such as \"title\" that differs from the others", quoteScalar(c))
			continue
		}
		names = append(names, c.Text)
	}
	return names
}

// addEventsTool adds the tool that reads the events of the chosen section.
func (p *parser) addEventsTool() {
	if p.chosen == nil || len(p.chosen.Events) == 0 || len(p.faults.List) > 0 {
		return
	}
	recipes := make([]*aai.Recipe, len(p.chosen.Events))
	for i := range p.chosen.Events {
		recipes[i] = p.chosen.Events[i].Recipe
	}
	feed := events.Feed{App: p.app.ID, Description: p.describeEvents(), From: p.o.Origin}
	for i := range p.chosen.Events {
		feed.Types = append(feed.Types, p.chosen.Events[i].Name)
	}
	terms := consentTerms{
		Origin: p.o.Origin, App: p.app.ID, AppName: p.app.Name, Tool: aai.EventsTool, Description: feed.Description,
		Effect: aai.Reads.String(), Events: recipes,
	}
	digest := cmp.Or(digestOf(terms), p.app.Digest)
	feed.Key = func() string { return digest }
	var unavailable *aai.Error
	if driver, ok := p.driver(p.chosen, recipes[0]).(aai.EventDriver); ok && p.o.Events != nil {
		source, err := driver.CompileEvents(recipes)
		switch unavailable = aai.AsError(err); {
		case err == nil:
			feed.Source = source
		case unavailable.Code == aai.PermissionDenied:
			p.warn(joinPath(p.chosen.outer.node.Path(), "events", -1), "cannot be used: %s", unavailable.Message)
		default:
			p.fault(joinPath(p.chosen.outer.node.Path(), "events", -1), "%s", unavailable.Message)
			return
		}
	}
	recorders := p.o.Events
	if recorders == nil {
		recorders = new(events.Recorders)
	}
	tool := recorders.Tool(feed)
	tool.Implementation.Digest, tool.Implementation.Unavailable = feed.Key, unavailable
	tool.Implementation.Summary = aai.CleanLabel(describeSources(p.kinds, recipes), maxText)
	p.app.Tools = append(p.app.Tools, tool)
}

// describeEvents describes the events for agents.
func (p *parser) describeEvents() string {
	parts := make([]string, len(p.chosen.Events))
	for i, e := range p.chosen.Events {
		parts[i] = e.Name
		if e.Recipe.DBus != nil && len(e.Recipe.DBus.Fields) > 0 {
			parts[i] += " (" + strings.Join(e.Recipe.DBus.Fields, ", ") + ")"
		}
		if e.Description != "" {
			parts[i] += ": " + e.Description
		}
	}
	return aai.CleanText("List what happened, numbered, since the first such call. "+strings.Join(parts, "; "), maxText)
}

// describeSources describes the sources of events for people, in one line.
func describeSources(known []kind, recipes []*aai.Recipe) string {
	var parts []string
	for _, r := range recipes {
		if part := describeRecipe(known, r); !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return fmt.Sprintf("listens to %s", strings.Join(parts, ", "))
}
