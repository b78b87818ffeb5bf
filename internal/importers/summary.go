package importers

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/catalog"
)

// renderSummary returns the summary of a descriptor for review: the app, its address, and each
// tool with its effect and parameters.
func renderSummary(doc *catalog.Document) []byte {
	var b strings.Builder
	line := func(format string, args ...any) { b.WriteString(catalog.OneLine(fmt.Sprintf(format, args...)) + "\n") }
	line("app %s: %s", doc.ID, doc.Name)
	line("  %s", strings.Join(strings.Fields(doc.Description), " "))
	if doc.Version != "" {
		line("version %s", doc.Version)
	}
	for _, s := range doc.Sections {
		place := s.BaseURL + s.URL
		if s.Command != "" {
			place = catalog.CommandLine(s.Command, s.Args)
		}
		line("%s %s %s", s.Platform, s.Automation, place)
		if s.Dir != "" {
			line("starts in %s", catalog.CommandLine(s.Dir, nil))
		}
		if len(s.Env) > 0 {
			line("variables %s", strings.Join(s.Env, ", "))
		}
		if s.Auth != nil {
			line("login %s", strings.Join(slices.DeleteFunc([]string{s.Auth.Kind, s.Auth.In, s.Auth.Name,
				s.Auth.AuthorizationEndpoint, s.Auth.TokenEndpoint, strings.Join(s.Auth.Scopes, " ")},
				func(s string) bool { return s == "" }),
				" "))
		}
		group := ""
		for _, tool := range s.Tools {
			if tool.Group != group {
				group = tool.Group
				line("[%s]", group)
			}
			line("  %s", toolLine(&tool))
		}
	}
	return []byte(b.String())
}

// toolLine returns a tool in one line.
func toolLine(tool *catalog.ToolDeclaration) string {
	effect, request, public := "", "", ""
	if tool.Effect != nil {
		effect = " " + tool.Effect.String()
	}
	if h := tool.Recipe.HTTP; h != nil {
		request = " " + h.Method + " " + h.Path
		if h.Public {
			public = ", without the login"
		}
		for _, name := range slices.Sorted(maps.Keys(h.Send)) {
			if h.Send[name].File {
				public += ", sends the content of the files that " + name + " names"
			}
		}
	}
	return fmt.Sprintf("%s:%s%s (%s)%s: %s", tool.Name, effect, request, strings.Join(tool.Recipe.Params, ", "), public,
		strings.Join(strings.Fields(tool.Description), " "))
}
