package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A kind is one way in which descriptors have tools run: a row of the one table of
// them. To add one: its type in the root's recipe.go, its row here, what that reads in a
// file named after it, and a driver of its name. A descriptor is right or wrong on
// every computer alike, and lint asks no driver: what is read goes by the text alone
// (path, not path/filepath), and what only this computer can say is Compile's.
type kind struct {
	name     string   // as [aai.Recipe.Kind] has it, by which a driver is found
	platform string   // whose sections may name it as their "automation"; empty: none
	optional []string // further ones; nobody means it who does not say so
	matches  func(r *aai.Recipe) bool
	// read reads what a section says for all its tools, and returns what reads one.
	read sectionReader
	// execution reads the same where the single-platform dialect names the kind as the
	// type of its "execution"; nil: it cannot.
	execution sectionReader
	// effect is what it does when nobody says; nil: it may do anything.
	effect func(r *aai.Recipe) aai.Effect
	// describe says in one line for people what it does.
	describe func(r *aai.Recipe) string
	// write says the recipe as the tool of a section; see [Document.Marshal].
	write func(s *Section, r *aai.Recipe, tool *toolText)
	// templates are the texts in which parameters are written as ${name}; nil: it is
	// given them in another way.
	templates func(r *aai.Recipe) []string
	limitKind aai.Kind // what limits and modes know it by; empty: by its effect
}

// A way reads what a section says for all its tools, and returns the reader of the
// tools. Where it returns nil, they cannot be run.
type sectionReader func(p *parser, s *section, m *members) toolReader

// kinds are all there are. Of one platform's the first is meant where a section does
// not say; platforms are in the order of the protocol.
func kinds() []kind {
	script := func(r *aai.Recipe) []string { return []string{r.Script.Script} }
	runsScript := func(r *aai.Recipe) string { return r.Script.Language + " " + r.Script.Script }
	return []kind{
		{
			name: "applescript", platform: "macos", read: scriptIn("applescript"), write: writeScript, describe: runsScript, templates: script, limitKind: aai.KindScript,
			matches: func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "applescript" },
		},
		{
			name: "jxa", platform: "macos", read: scriptIn("jxa"), write: writeScript, describe: runsScript, templates: script, limitKind: aai.KindScript,
			matches: func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "jxa" },
		},
		{
			name: "com", platform: "windows", read: (*parser).comToolReader, execution: (*parser).comOrEnvelope, write: writeCOM, describe: describeCOM, templates: comTexts,
			matches: func(r *aai.Recipe) bool { return r.COM != nil },
		},
		{
			name: "dbus", platform: "linux", read: (*parser).dbusToolReader, execution: (*parser).dbusOrEnvelope, write: writeDBus, effect: dbusEffect, describe: describeDBus,
			matches: func(r *aai.Recipe) bool { return r.DBus != nil },
		},
		{
			name: "intent", platform: "android", read: (*parser).intentToolReader, write: writeIntent, templates: intentTexts,
			matches: func(r *aai.Recipe) bool { return r.Intent != nil },
			describe: func(r *aai.Recipe) string {
				return strings.TrimSpace("Android intent " + r.Intent.Package + " " + r.Intent.Action)
			},
		},
		{
			name: "url_scheme", platform: "ios", read: (*parser).urlToolReader, write: writeURL,
			matches:   func(r *aai.Recipe) bool { return r.URL != nil },
			describe:  func(r *aai.Recipe) string { return "opens " + r.URL.Scheme + " " + r.URL.Template },
			templates: func(r *aai.Recipe) []string { return []string{r.URL.Template} },
		},
		{
			name: "http", platform: "web", read: (*parser).httpToolReader, execution: (*parser).httpToolReader, write: writeHTTP, effect: httpEffect,
			matches:  func(r *aai.Recipe) bool { return r.HTTP != nil },
			describe: func(r *aai.Recipe) string { return r.HTTP.Method + " " + r.HTTP.BaseURL + r.HTTP.Path },
		},
		{
			name: "mcp", optional: serverPlatforms(), read: (*parser).mcpToolReader, execution: (*parser).mcpToolReader, describe: describeMCP,
			write:   func(*Section, *aai.Recipe, *toolText) {}, // the section says where
			matches: func(r *aai.Recipe) bool { return r.MCP != nil },
		},
		{
			name: "ipc", execution: (*parser).envelopeToolReader,
			write:   func(*Section, *aai.Recipe, *toolText) {}, // the section says where, and no tool more
			matches: func(r *aai.Recipe) bool { return r.IPC != nil },
			describe: func(r *aai.Recipe) string {
				return strings.TrimSpace("the app itself " + r.IPC.Service + r.IPC.BundleID + r.IPC.ProgID)
			},
		},
	}
}

// An execution is what the single-platform dialect says as the type of "execution".
type execution struct {
	name       string
	platform   string // the only one where it exists; empty: several
	read       sectionReader
	unwritable bool // what it says of itself is not kept, so it cannot be written
}

// executions are those of the kinds, and what the protocol names besides.
func (p *parser) executions() []execution {
	var all []execution
	for _, k := range p.kinds {
		if k.execution != nil {
			all = append(all, execution{name: k.name, platform: k.platform, read: k.execution})
		}
	}
	return append(
		all,
		execution{name: "apple-events", platform: "macos", read: (*parser).envelopeToolReader},
		execution{name: "stdio", read: (*parser).unsupported, unwritable: true},
		execution{name: "acp", read: (*parser).unsupported, unwritable: true},
	)
}

// automations are the kinds of a platform, by name.
func (p *parser) automations(platform string) []string {
	var names []string
	for _, k := range p.kinds {
		if k.platform == platform && platform != "" {
			names = append(names, k.name)
		}
	}
	for _, k := range p.kinds {
		if len(names) > 0 && slices.Contains(k.optional, platform) {
			names = append(names, k.name)
		}
	}
	return names
}

// platformNames lists the platforms.
func (p *parser) platformNames() []string {
	var names []string
	for _, k := range p.kinds {
		if k.platform != "" && !slices.Contains(names, k.platform) {
			names = append(names, k.platform)
		}
	}
	return names
}

// kindOf is the kind of a recipe; one without a name where no way is known.
func kindOf(known []kind, r *aai.Recipe) kind {
	for _, k := range known {
		if k.matches(r) {
			return k
		}
	}
	return kind{}
}

// InherentEffect is what a recipe does when nobody says: reading a property or a web
// resource changes nothing, anything else may.
func InherentEffect(r *aai.Recipe) aai.Effect { return kindOf(kinds(), r).inherentEffect(r) }

func (k kind) inherentEffect(r *aai.Recipe) aai.Effect {
	if k.effect == nil {
		return aai.Destroys
	}
	return k.effect(r)
}

// PlaceholderTexts are the texts of a recipe in which parameters are written as ${name},
// and whether it is of a kind that knows parameters by those alone.
func PlaceholderTexts(r *aai.Recipe) (texts []string, alone bool) {
	k := kindOf(kinds(), r)
	if k.templates == nil {
		return nil, false
	}
	return k.templates(r), true
}

// describeRecipe says what a recipe does, in one line for people.
func describeRecipe(known []kind, r *aai.Recipe) string {
	k := kindOf(known, r)
	switch {
	case k.describe == nil:
		return ""
	case r.Start != "":
		return "starts " + cmp.Or(r.Starts, r.Start+".desktop") + " if it does not run; " + k.describe(r) // first: what is long is cut
	}
	return k.describe(r)
}
