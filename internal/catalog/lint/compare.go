package lint

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Compare compares a descriptor with an earlier version. By the rules of the protocol's page on aai.json, a change that
// may break an existing agent is MAJOR. New features are MINOR, and fixes are PATCH. Versions 0.y.z promise nothing:
// MINOR suffices for all changes. Its error is an *aai.Error with code
// AAI_JSON_INVALID if one of them is invalid or has no semantic version. It is safe for
// concurrent use.
func Compare(earlier, later []byte, o catalog.Options) (*answer.LintComparison, error) {
	a, err := readContract(earlier, o)
	if err != nil {
		return nil, err
	}
	b, err := readContract(later, o)
	if err != nil {
		return nil, err
	}
	d := &difference{}
	d.contracts(a, b)
	c := &answer.LintComparison{Old: a.app.Descriptor.Version, New: b.app.Descriptor.Version, Changes: d.changes, ActualBump: a.version.bumpTo(b.version)}
	slices.SortStableFunc(c.Changes, func(x, y answer.LintChange) int { return int(y.Bump - x.Bump) })
	if len(c.Changes) > 0 {
		c.RequiredBump = c.Changes[0].Bump
	} else {
		c.Changes = []answer.LintChange{}
		if !bytes.Equal(earlier, later) && !sameJSON(earlier, later) {
			c.RequiredBump = answer.Patch
			c.Changes = append(c.Changes, answer.LintChange{Bump: answer.Patch, Problem: "something that agents do not see was changed"})
		}
	}
	enough := c.RequiredBump
	if a.version.major == 0 && b.version.major == 0 {
		enough = min(enough, answer.Minor)
	}
	c.IsSufficient = c.ActualBump >= enough && a.version.compare(b.version) <= 0
	return c, nil
}

// verdict returns the problem of an insufficient version and its fix, or empty strings if the
// version is sufficient.
func verdict(c *answer.LintComparison) (problem, mend string) {
	if c.IsSufficient {
		return "", ""
	}
	before, _ := parseVersion(c.Old)
	after, _ := parseVersion(c.New)
	if before.compare(after) > 0 {
		return fmt.Sprintf("is %s, which comes before %s", c.New, c.Old), "Raise it."
	}
	change := c.Changes[0]
	what := change.Problem
	if change.Path != "" {
		what = change.Path + " " + what
	}
	needed := c.RequiredBump
	if before.major == 0 {
		needed = min(needed, answer.Minor)
	}
	return fmt.Sprintf("is %s after %s (%s), but needs %s: %s", c.New, c.Old, bumpWords(c.ActualBump), needed, what),
		fmt.Sprintf("Make it %s.", before.next(needed).core())
}

func bumpWords(b answer.Bump) string {
	if b == answer.NoBump {
		return "not raised"
	}
	return b.String()
}

// A contract is the interface that a descriptor promises to its users.
type contract struct {
	app      *aai.App
	version  version
	doc      *document
	sections map[string]platformContract // by platform
}

// platformContract is the tools of one platform and their path.
type platformContract struct {
	path    string
	tools   []*aai.Tool
	recipes []*aai.Recipe
	events  []catalog.ToolDeclaration
}

func readContract(source []byte, o catalog.Options) (*contract, error) {
	d, err := catalog.Parse(source, o)
	if err != nil {
		return nil, err
	}
	c := &contract{app: d.App, doc: readDocument(source), sections: make(map[string]platformContract)}
	written := c.doc.root.Member("version")
	if written == nil {
		return nil, aai.Errorf(aai.DescriptorInvalid, "version: missing; expected a semantic version, such as \"1.0.0\"")
	}
	v, ok := parseVersion(written.Text)
	if !ok {
		return nil,
			aai.Errorf(aai.DescriptorInvalid, "version: is %s; expected a semantic version, such as \"1.0.0\"",
				sanitize.Quote(written.Text, 60))
	}
	c.version = v
	for _, s := range c.doc.sections() {
		platform := o
		platform.HostPlatform = s.platform
		p, err := catalog.Parse(source, platform)
		if err != nil {
			return nil, err
		}
		var recipes []*aai.Recipe
		for _, r := range p.Recipes {
			if r.Platform == p.App.Platform {
				recipes = append(recipes, r)
			}
		}
		if len(recipes) <= len(p.App.Tools) { // the last one may be the tool that reads the events
			c.sections[p.App.Platform] = platformContract{s.tools.Mark, p.App.Tools[:len(recipes)], recipes, eventsOf(p)}
		}
	}
	return c, nil
}

// difference collects the changes.
type difference struct{ changes []answer.LintChange }

func (d *difference) record(b answer.Bump, path, format string, args ...any) {
	d.changes = append(d.changes, answer.LintChange{Bump: b, Path: path, Problem: fmt.Sprintf(format, args...)})
}

func (d *difference) contracts(a, b *contract) {
	if a.app.ID != b.app.ID {
		d.record(answer.Major, "", "is of another app: %s, not %s", b.app.ID, a.app.ID)
	}
	if a.app.Name != b.app.Name || a.app.Description != b.app.Description {
		d.record(answer.Patch, "", "has another name or description")
	}
	for _, alias := range a.app.Aliases {
		if !slices.Contains(b.app.Aliases, alias) {
			d.record(answer.Major, "aliases", "lost %s, by which the app was called", sanitize.Quote(alias, 60))
		}
	}
	if len(b.app.Aliases) > len(a.app.Aliases) {
		d.record(answer.Minor, "aliases", "has more names")
	}
	d.auth(a.app.Site.Auth, b.app.Site.Auth)
	for _, platform := range []string{"macos", "windows", "linux", "android", "ios", "web"} {
		before, had := a.sections[platform]
		after, has := b.sections[platform]
		switch {
		case had && !has:
			d.record(answer.Major, before.path, "is gone: the app has no tools for %s any more", platform)
		case has && !had:
			d.record(answer.Minor, after.path, "is new: tools for %s", platform)
		case has:
			d.tools(before, after)
			d.events(before, after)
		}
	}
}

// auth compares the authentication: another method makes people log in again.
func (d *difference) auth(a, b *aai.AuthRecipe) {
	switch {
	case a == nil && b == nil:
	case a == nil || b == nil || a.Kind != b.Kind:
		d.record(answer.Major, "auth", "asks people to log in in another way")
	case !sameValue(a, b):
		d.record(answer.Minor, "auth", "has changed")
	}
}

// tools compares the tools of one platform by name. A renamed tool counts as removed and added,
// which is MAJOR.
func (d *difference) tools(a, b platformContract) {
	for i, before := range a.tools {
		at := slices.IndexFunc(b.tools, func(t *aai.Tool) bool { return t.Name == before.Name })
		if at < 0 {
			d.record(answer.Major, catalog.JoinPath(a.path, "", i), "was removed: the tool %s", before.Name)
			continue
		}
		d.tool(catalog.JoinPath(b.path, "", at), before, b.tools[at])
		if !sameRecipe(a.recipes[i], b.recipes[at]) {
			d.record(answer.Patch, catalog.JoinPath(b.path, "", at), "is carried out in another way")
		}
	}
	for i, after := range b.tools {
		if !slices.ContainsFunc(a.tools, func(t *aai.Tool) bool { return t.Name == after.Name }) {
			d.record(answer.Minor, catalog.JoinPath(b.path, "", i), "is new: the tool %s", after.Name)
		}
	}
}

// eventsOf returns the events of the app's platform.
func eventsOf(d *catalog.Descriptor) []catalog.ToolDeclaration {
	for _, s := range d.Document.Sections {
		if s.Platform == d.App.Platform {
			return s.Events
		}
	}
	return nil
}

// fieldsOf returns the names of an event's values that the descriptor gives.
func fieldsOf(e catalog.ToolDeclaration) []string {
	if e.Recipe.DBus == nil {
		return nil
	}
	return e.Recipe.DBus.Fields
}

// events compares the events of one platform by name. Agents and workflows wait for them by their names and fields.
func (d *difference) events(a, b platformContract) {
	named := func(list []catalog.ToolDeclaration, name string) int {
		return slices.IndexFunc(list, func(e catalog.ToolDeclaration) bool { return e.Name == name })
	}
	path := func(tools string, at int) string {
		return catalog.JoinPath(strings.TrimSuffix(tools, "tools")+"events", "", at)
	}
	for i, before := range a.events {
		at := named(b.events, before.Name)
		switch {
		case at < 0:
			d.record(answer.Major, path(a.path, i), "was removed: the event %s", before.Name)
		case !slices.Equal(fieldsOf(before), fieldsOf(b.events[at])):
			d.record(answer.Major, path(b.path, at), "has other fields")
		case !sameValue(before.Recipe, b.events[at].Recipe):
			d.record(answer.Patch, path(b.path, at), "has another source")
		}
	}
	for i, after := range b.events {
		if named(a.events, after.Name) < 0 {
			d.record(answer.Minor, path(b.path, i), "is new: the event %s", after.Name)
		}
	}
}

func (d *difference) tool(path string, a, b *aai.Tool) {
	if a.Title != b.Title || a.Description != b.Description {
		d.record(answer.Patch, path, "is described in other words")
	}
	switch {
	case b.Effect < a.Effect:
		d.record(answer.Major, path, "has a stronger effect: it %s; before, it %s", b.Effect, a.Effect)
	case b.Effect > a.Effect:
		d.record(answer.Minor, path, "has a weaker effect: it %s", b.Effect)
	}
	if a.Limits.Timeout != b.Limits.Timeout {
		d.record(answer.Patch, path, "has another time-out")
	}
	arguments := &schemaDifference{difference: d, given: true, before: decode(a.Params.Source),
		after: decode(b.Params.Source)}
	arguments.root(catalog.JoinPath(path, "parameters", -1))
	results := &schemaDifference{difference: d, before: decode(a.Returns.Source), after: decode(b.Returns.Source)}
	results.root(catalog.JoinPath(path, "returns", -1))
}

// sameRecipe compares the implementation of a tool; other code compares the other fields of the
// recipe.
func sameRecipe(a, b *aai.Recipe) bool {
	x, y := *a, *b
	x.App, y.App, x.Params, y.Params = "", "", nil, nil
	for _, r := range []*aai.Recipe{&x, &y} {
		if r.HTTP != nil {
			h := *r.HTTP
			h.Auth = nil
			r.HTTP = &h
		}
	}
	return sameValue(x, y)
}

func sameValue(a, b any) bool {
	x, errX := json.Marshal(a)
	y, errY := json.Marshal(b)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}

func sameJSON(a, b []byte) bool {
	var x, y map[string]any
	if json.Unmarshal(bytes.TrimPrefix(a, []byte("\xef\xbb\xbf")), &x) != nil ||
		json.Unmarshal(bytes.TrimPrefix(b, []byte("\xef\xbb\xbf")), &y) != nil {
		return false
	}
	delete(x, "version")
	delete(y, "version")
	return sameValue(x, y)
}

// decode decodes a validated schema; an absent one becomes nil.
func decode(source json.RawMessage) any {
	var v any
	d := json.NewDecoder(strings.NewReader(string(source)))
	d.UseNumber()
	if len(source) == 0 || d.Decode(&v) != nil {
		return nil
	}
	return v
}
