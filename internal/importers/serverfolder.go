package importers

import (
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// fillProject replaces the clients' names for the project's folder by the folder, if it is known.
func (in *serverReader) fillProject() {
	if in.project == "" || in.fields == nil {
		return
	}
	fill := strings.NewReplacer("${workspaceFolder}", in.project, "${workspaceRoot}", in.project,
		"${CLAUDE_PROJECT_DIR}", in.project, "${CLAUDE_PROJECT_DIR:-.}", in.project)
	in.fields, _ = sanitize.MapTexts(in.fields, func(text string) string {
		filled := fill.Replace(text)
		in.usesProject = in.usesProject || filled != text
		return filled
	}).(map[string]any)
}

// placeCommand resolves the relative places of a command: in the project's folder, in which the client
// starts the server. Without a known folder the server is skipped, since the gateway's own folder, the
// person's home, would give it other files than the client does.
func (in *serverReader) placeCommand() {
	c := &in.common
	if c.Command == "" {
		return
	}
	var relative []string
	if c.Dir != "" && !filepath.IsAbs(c.Dir) {
		relative = append(relative, c.Dir)
	}
	for _, word := range append([]string{c.Command}, c.Args...) {
		if isRelativePlace(word) && (c.Dir == "" || !filepath.IsAbs(c.Dir)) {
			relative = append(relative, word)
		}
	}
	names := quotedSetting(strings.Join(slices.Compact(relative), " "))
	switch {
	case len(relative) > 0 && in.project == "":
		in.skip("%s is in the folder where the client starts it; name that folder by --project, and import again", names)
		return
	case len(relative) == 0 && !in.isScoped:
		return
	}
	in.usesProject = in.usesProject || len(relative) > 0
	if !filepath.IsAbs(c.Dir) {
		c.Dir = filepath.Join(in.project, c.Dir)
	}
	if isRelativePlace(c.Command) {
		c.Command = filepath.Join(c.Dir, c.Command)
	}
	started := "it starts in the folder " + aai.CleanLabel(c.Dir, maxSummaryLine)
	if len(relative) > 0 {
		started += ", by which " + names + " in its entry is resolved"
	}
	in.note("%s", started)
}

// isRelativePlace reports whether an argument, or the value of a flag, is a relative path such as "." or
// "./x".
func isRelativePlace(word string) bool {
	if flag, value, joined := strings.Cut(word, "="); joined && strings.HasPrefix(flag, "-") {
		word = value
	}
	first, _, _ := strings.Cut(strings.ReplaceAll(word, `\`, "/"), "/")
	return first == "." || first == ".."
}
