package catalog

import (
	"cmp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A kind is an execution mechanism of descriptors. A new one needs a type in the root's
// recipe.go, an entry here, its reader in a file named after it, and a driver of its name. A
// descriptor must be equally valid on every computer, and lint uses no driver. Readers therefore
// depend only on the text (path, not path/filepath), and Compile performs checks that depend on
// this computer.
type kind struct {
	name     string   // as in [aai.Recipe.Kind], to find the driver
	platform string   // platform with sections that may name it as "automation"; empty: none
	optional []string // further platforms, where it must be named explicitly
	matches  func(r *aai.Recipe) bool
	// read reads the common settings of a section, and returns the reader of its tools.
	read sectionReader
	// execution is read for the single-platform dialect, which names the kind as the type of its "execution"; nil: not
	// possible.
	execution sectionReader
	// effect returns the default effect; nil: any effect.
	effect func(r *aai.Recipe) aai.Effect
	// describe describes a recipe for people, in one line.
	describe func(r *aai.Recipe) string
	// write writes the recipe as the tool of a section; see [Document.Marshal].
	write func(s *Section, r *aai.Recipe, tool *objectText)
	// templates returns the texts that contain parameters as ${name}; nil: parameters are passed
	// in another way.
	templates func(r *aai.Recipe) []string
	limitKind aai.Kind // the name for limits and modes; empty: by effect
}

// A sectionReader reads the common settings of a section, and returns the reader of its tools. If
// that is nil, the tools cannot run.
type sectionReader func(p *parser, s *section, m *members) toolReader

// kinds returns all kinds. The first one of a platform is its default; platforms are in the
// protocol's order.
func kinds() []kind {
	script := func(r *aai.Recipe) []string { return []string{r.Script.Script} }
	runsScript := func(r *aai.Recipe) string { return warnOfPrograms(r) + r.Script.Language + " " + r.Script.Script }
	return []kind{
		{
			name: "applescript", platform: "macos", read: scriptIn("applescript"), write: writeScript, describe: runsScript,
			templates: script, limitKind: aai.KindScript,
			matches: func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "applescript" },
		},
		{
			name: "jxa", platform: "macos", read: scriptIn("jxa"), write: writeScript, describe: runsScript, templates: script,
			limitKind: aai.KindScript,
			matches:   func(r *aai.Recipe) bool { return r.Script != nil && r.Script.Language == "jxa" },
		},
		{
			name: "com", platform: "windows", read: (*parser).comToolReader, execution: (*parser).comOrEnvelope, write: writeCOM,
			describe: describeCOM, templates: comTexts, matches: func(r *aai.Recipe) bool { return r.COM != nil },
		},
		{
			name: "dbus", platform: "linux", read: (*parser).dbusToolReader, execution: (*parser).dbusOrEnvelope,
			write: writeDBus, effect: dbusEffect, describe: describeDBus,
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
			name: "http", platform: "web", read: (*parser).httpToolReader, execution: (*parser).httpToolReader, write: writeHTTP,
			effect: httpEffect, matches: func(r *aai.Recipe) bool { return r.HTTP != nil },
			describe: func(r *aai.Recipe) string {
				return r.HTTP.Method + " " + r.HTTP.Address() + r.HTTP.Path + fixedQuery(r.HTTP)
			},
		},
		{
			name: "mcp", optional: serverPlatforms(), read: (*parser).mcpToolReader, execution: (*parser).mcpToolReader,
			describe: describeMCP,
			write:    func(*Section, *aai.Recipe, *objectText) {}, // the section has the address
			matches:  func(r *aai.Recipe) bool { return r.MCP != nil },
		},
		{
			name: "ipc", execution: (*parser).envelopeToolReader,
			write:   func(*Section, *aai.Recipe, *objectText) {}, // the section has the address, and tools add no more
			matches: func(r *aai.Recipe) bool { return r.IPC != nil },
			describe: func(r *aai.Recipe) string {
				return strings.TrimSpace("the app itself " + r.IPC.Service + r.IPC.BundleID + r.IPC.ProgID)
			},
		},
	}
}

// An execution is a type of "execution" in the single-platform dialect.
type execution struct {
	name       string
	platform   string // its only platform; empty: several
	read       sectionReader
	unwritable bool // its settings are not kept, so it cannot be written
}

// executions returns the "execution" types of all kinds, and further types of the protocol.
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

// automations returns the values of "automation" that a platform's section may have, the default first.
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

// platformNames returns the platforms of all kinds, in the protocol's order.
func (p *parser) platformNames() []string {
	var names []string
	for _, k := range p.kinds {
		if k.platform != "" && !slices.Contains(names, k.platform) {
			names = append(names, k.platform)
		}
	}
	return names
}

// kindOf returns the kind of a recipe, or the zero kind if it is unknown.
func kindOf(known []kind, r *aai.Recipe) kind {
	for _, k := range known {
		if k.matches(r) {
			return k
		}
	}
	return kind{}
}

// InherentEffect returns the effect of a recipe if the descriptor claims none. Reading a D-Bus property and HTTP GET
// or HEAD are Reads; all others are Destroys.
func InherentEffect(r *aai.Recipe) aai.Effect { return kindOf(kinds(), r).inherentEffect(r) }

func (k kind) inherentEffect(r *aai.Recipe) aai.Effect {
	if k.effect == nil {
		return aai.Destroys
	}
	return k.effect(r)
}

// PlaceholderTexts returns the texts of a recipe that contain parameters as ${name}. alone is true if its kind passes
// parameters only in this way; otherwise texts is nil.
func PlaceholderTexts(r *aai.Recipe) (texts []string, alone bool) {
	k := kindOf(kinds(), r)
	if k.templates == nil {
		return nil, false
	}
	return k.templates(r), true
}

// describeRecipe describes a recipe for people, in one line.
func describeRecipe(known []kind, r *aai.Recipe) string {
	k := kindOf(known, r)
	switch {
	case k.describe == nil:
		return ""
	case r.Start != "":
		// at the beginning, because long text is cut
		return "starts " + cmp.Or(r.Starts, r.Start+".desktop") + " if it does not run; " + k.describe(r)
	}
	return k.describe(r)
}
