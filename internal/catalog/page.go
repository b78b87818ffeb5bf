package catalog

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
)

// A Page selects operations of an app for a guide. The zero Page starts with the app's first operation.
type Page struct {
	Group string // only operations of this group, as groupOf returns it; "": all
	After string // only operations after the one of this name; "": from the first on
}

// Limits on one page of a guide.
const (
	maxPage   = 12_000 // bytes of operations, one line each
	maxGroups = 40     // listed groups
	minGroup  = 2      // operations of a listed group
)

// groupOf returns the tool's group in the descriptor, else the first word of its name: "issues"
// of issues_create, "issues" of issuesCreate.
func groupOf(tool *aai.Tool) string { return cmp.Or(tool.Group, firstWord(tool.Name)) }

func firstWord(tool string) string {
	for i, r := range tool {
		if i > 0 && (!unicode.IsLetter(r) && !unicode.IsDigit(r) || unicode.IsUpper(r) && !isUpperBefore(tool, i)) {
			return tool[:i]
		}
	}
	return tool
}

func isUpperBefore(s string, i int) bool {
	r, _ := utf8.DecodeLastRuneInString(s[:i])
	return unicode.IsUpper(r)
}

// groupsOf returns the groups of an app with at least minGroup tools, largest first.
func groupsOf(app *aai.App) (names []string, size map[string]int) {
	size = make(map[string]int)
	for _, tool := range app.Tools {
		size[groupOf(tool)]++
	}
	for name, n := range size {
		if n >= minGroup {
			names = append(names, name)
		}
	}
	slices.SortFunc(names, func(a, b string) int { return cmp.Or(size[b]-size[a], strings.Compare(a, b)) })
	return names, size
}

// tools returns the app's tools from the beginning of the page on.
func (p Page) tools(app *aai.App) ([]*aai.Tool, *aai.Error) {
	tools := slices.DeleteFunc(slices.Clone(app.Tools), func(t *aai.Tool) bool { return t.Limits.Unlisted })
	if p.Group != "" {
		tools = nil
		for _, tool := range app.Tools {
			if groupOf(tool) == p.Group {
				tools = append(tools, tool)
			}
		}
		if len(tools) == 0 {
			names, _ := groupsOf(app)
			e := aai.Errorf(aai.InvalidParams, "group: %s has none named %q", app.ID, aai.CleanLabel(p.Group, maxName))
			e.Candidates, e.Hint = aai.Nearest(p.Group, names, maxCandidates), "It has no groups."
			if len(names) > 0 {
				e.Hint = "Its groups are: " + aai.CleanText(strings.Join(names[:min(len(names), maxGroups)], ", "), maxText) + "."
			}
			return nil, e
		}
	}
	if p.After == "" {
		return tools, nil
	}
	at := slices.IndexFunc(tools, func(t *aai.Tool) bool { return t.Name == p.After })
	if at < 0 {
		names := make([]string, len(tools))
		for i, t := range tools {
			names[i] = t.Name
		}
		e := aai.Errorf(aai.InvalidParams, "after: %s has no tool %q there", app.ID, aai.CleanLabel(p.After, maxName))
		e.Candidates, e.Hint = aai.Nearest(p.After, names, maxCandidates), "Give the name at the end of the previous page; without after the guide gives the first page."
		return nil, e
	}
	return tools[at+1:], nil
}

// GuidePage returns one page of the guide to an app, as Markdown and as the value of [GuideData]. Its error is an
// *aai.Error, INVALID_PARAMS, for an unknown group or tool. It is safe for concurrent use.
func GuidePage(app *aai.App, p Page) (text string, data any, err error) {
	tools, fault := p.tools(app)
	if fault != nil {
		return "", nil, fault
	}
	g := guideHead(app)
	told := 0
	for _, tool := range tools {
		o := newOperation(tool, g.quote)
		var line strings.Builder
		o.line(&line, nil)
		if told += line.Len(); told > maxPage && len(g.Operations) > 0 {
			break
		}
		g.Operations = append(g.Operations, o)
	}
	var more []*aai.Tool
	if rest := tools[len(g.Operations):]; len(rest) > 0 {
		more = rest
	}
	return g.render(app, p, more), g, nil
}

// render writes a guide; more are the operations of the following pages.
func (g *guide) render(app *aai.App, p Page, more []*aai.Tool) string {
	var b strings.Builder
	g.head(&b)
	g.writeAuthentication(&b)
	b.WriteString("\n## Available Operations\n")
	if len(g.Operations) == 0 {
		b.WriteString("\nNone.\n")
	}
	if p == (Page{}) && more != nil {
		g.groups(&b, app)
	}
	var full strings.Builder
	for i := range g.Operations {
		g.Operations[i].write(&full, g.App.ID)
	}
	if more != nil || b.Len()+full.Len() > maxGuide && len(g.Operations) > 1 {
		g.writeBrief(&b)
	} else {
		b.WriteString(full.String())
	}
	if more != nil {
		args := `{"app": ` + strconv.Quote(g.App.ID)
		if p.Group != "" {
			args += `, "group": ` + strconv.Quote(p.Group)
		}
		args += `, "after": ` + strconv.Quote(g.Operations[len(g.Operations)-1].Name) + `}`
		fmt.Fprintf(&b, "\n%d more follow. The next page: aai_exec({\"app\": %q, \"tool\": \"guide\", \"args\": %s})\n", len(more), aai.BuiltinApp, args)
		fmt.Fprintf(&b, "Or search by words: aai_exec({\"app\": %q, \"tool\": \"search\", \"args\": {\"words\": \"…\", \"app\": %s}})\n", aai.BuiltinApp, strconv.Quote(g.App.ID))
	}
	b.WriteString("\nUse the aai_exec tool to run these operations.\n")
	return b.String()
}

// groups writes the groups of the app's operations, the largest first.
func (g *guide) groups(b *strings.Builder, app *aai.App) {
	names, size := groupsOf(app)
	if len(names) == 0 {
		return
	}
	fmt.Fprintf(b, "\n%d operations. Those of a group: aai_exec({\"app\": %q, \"tool\": \"guide\", \"args\": {\"app\": %s, \"group\": %s}}). The groups:",
		len(app.Tools), aai.BuiltinApp, strconv.Quote(g.App.ID), strconv.Quote(names[0]))
	for i, name := range names[:min(len(names), maxGroups)] {
		if i > 0 {
			b.WriteString(",")
		}
		fmt.Fprintf(b, " %s (%d)", plainOr(name, g.quote(name, maxName)), size[name])
	}
	if len(names) > maxGroups {
		fmt.Fprintf(b, " and %d smaller ones", len(names)-maxGroups)
	}
	b.WriteString(".\n")
}
