package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Options configure the parsing of descriptors. The zero Options are for a computer without
// drivers.
type Options struct {
	// HostPlatform is the platform of this computer: "linux", "macos" or "windows".
	HostPlatform string
	// Drivers compile recipes to Actions. A driver is looked up by "<platform>/<kind>", such as
	// "linux/ipc", and then by "<kind>", such as "dbus"; see [aai.Recipe.Kind].
	Drivers map[string]aai.Driver
	// DefaultTimeout is for tools without a timeout; zero means aai.DefaultTimeout. Tools for Android and iOS default to
	// the protocol's 5 and 10 seconds instead.
	DefaultTimeout time.Duration
	// EntryCommand returns the command of the desktop entry with the id, or ""; nil: desktop
	// entries start no app.
	EntryCommand func(id string) string
	// Events record what the apps report; nil: events cannot be read.
	Events *events.Recorders
	// Source is the location of the descriptor; it becomes App.Source.
	Source string
	// DesktopFile is the .desktop file that names the descriptor, such as "cmus.desktop", if any.
	// It starts the app.
	DesktopFile string
	// Modified is the file's modification time; it becomes App.Modified.
	Modified time.Time
	// Origin is the origin of a descriptor from the web, such as "https://example.com"; empty for
	// one that a person installed. For a web descriptor, effect claims may raise the risk but not
	// lower it. Its app id begins with the host, such as "example.com/org.example.Mail", so that
	// it cannot pass for an app of this computer; aliases are dropped. Its limits are tighter:
	// 256 KiB, 5,000 JSON values and 100 tools.
	Origin string
}

// A Descriptor is the parsed form of a valid aai.json.
type Descriptor struct {
	App *aai.App
	// Document is the parsed content, with every known section.
	Document *Document
	// Recipes are the recipes of all listed tools, in the order of the file, including sections for other platforms. The
	// kind of a recipe is empty if its execution type is known but not supported.
	Recipes []*aai.Recipe
	// Warnings report doubtful parts that do not make the descriptor invalid, such as unknown keys.
	Warnings []Fault
}

// Parse parses a descriptor in either dialect: that of the protocol's section 2.5 ("appId",
// "platforms") and the single-platform one ("platform", "app", "execution"). Keys may be in
// snake_case or camelCase. It accepts any schema_version 1.x, because minor versions only add.
//
// The error is an *aai.Error with code AAI_JSON_INVALID. Its message has the JSON path, the problem and the expected
// value; its cause is a *[Faults]. Parse is safe for concurrent use.
func Parse(source []byte, o Options) (*Descriptor, error) {
	d, faults := new(reader).parse(source, o)
	if err := faults.err(); err != nil {
		return nil, err
	}
	return d, nil
}

// parse is Parse, except that with faults it also returns the readable part: the id and the name
// of the app.
func (r *reader) parse(source []byte, o Options) (*Descriptor, *Faults) {
	sum := sha256.Sum256(source)
	body := bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	p := &parser{o: o, reader: r, kinds: r.table(), app: &aai.App{
		Digest: hex.EncodeToString(sum[:]), Source: o.Source, Descriptor: aai.Descriptor{Modified: o.Modified, Raw: json.RawMessage(body)},
		Site: aai.Site{Origin: o.Origin},
	}}
	root, fault := r.read(body, p.limits())
	switch {
	case fault != nil:
		p.fault(fault.Path, "%s", fault.Problem)
	case root.Kind != object:
		p.fault("", "is %s; expected a JSON object", root.KindName())
	default:
		p.compile(p.document(p.members(root, "")))
	}
	document, faults := p.doc, p.faults // copies, so that they do not keep the parser
	return &Descriptor{App: p.app, Document: &document, Recipes: p.recipes, Warnings: p.warnings.List}, &faults
}

// compile builds the app from the document and its sections.
func (p *parser) compile(sections []*section) {
	p.app.ID, p.app.Name, p.app.Description = p.doc.ID, p.doc.Name, p.doc.Description
	p.app.Descriptor.Version, p.app.Aliases = p.doc.Version, p.doc.Aliases
	for _, s := range sections {
		p.doc.Sections = append(p.doc.Sections, s.Section)
		for _, tool := range s.Tools {
			p.recipes = append(p.recipes, tool.Recipe)
		}
	}
	p.choose(sections)
	p.qualifyWebID()
	p.setDigests()
	p.addEventsTool()
}

// qualifyWebID gives an app from the web an id that no app of this computer can have.
func (p *parser) qualifyWebID() {
	if p.o.Origin == "" || p.app.ID == "" {
		return
	}
	_, host, _ := strings.Cut(p.o.Origin, "://")
	p.app.ID, p.app.Aliases = host+"/"+p.app.ID, nil
}

// isSchema reports whether n is a schema of a tool: tools[i].parameters or tools[i].returns. The
// schema reader reads those.
func isSchema(n *node) bool {
	if n.Name != "parameters" && n.Name != "returns" {
		return false
	}
	tool := n.Parent
	return tool.Index() >= 0 && tool.Parent != nil && tool.Parent.Name == "tools"
}

// parser holds the state of parsing one descriptor.
type parser struct {
	o        Options
	reader   *reader
	kinds    []kind
	doc      Document
	app      *aai.App
	recipes  []*aai.Recipe
	run      []*aai.Recipe // of the app's tools, for compilation
	chosen   *section      // the section of the app's tools; nil: none
	faults   Faults
	warnings Faults

	schemas map[string]schema.Facts // by source

	paramSetOf *aai.Recipe // the recipe with the parameters in paramSet
	paramSet   map[string]bool
}

func (p *parser) fault(path, format string, args ...any) {
	p.faults.add(path, fmt.Sprintf(format, args...))
}

func (p *parser) warn(path, format string, args ...any) {
	p.warnings.add(path, fmt.Sprintf(format, args...))
}

// document reads the descriptor. The members of root tell the dialects apart.
func (p *parser) document(root *members) (sections []*section) {
	p.schemaVersion(root)
	p.doc.Version = aai.CleanLabel(root.text("version"), maxName)
	p.generated(root)
	platforms, app := root.node.Member("platforms"), root.node.Member("app")
	platform := root.node.Member("platform")
	switch {
	case platforms != nil && (app != nil || platform != nil):
		p.fault("", `has both "platforms" and "app" or "platform"; expected one dialect: "appId" with "platforms", or "app" with "platform"`)
	case platforms != nil:
		sections = p.multiPlatform(root)
	case app != nil || platform != nil:
		sections = p.singlePlatform(root)
	default:
		p.fault("", `has neither "platforms" nor "app"; expected "appId" with "platforms", or "app" with "platform"`)
		if id := root.text("appId", "app_id"); validID(id) {
			p.doc.ID = id
		}
	}
	root.unknown()
	return sections
}

func (p *parser) schemaVersion(root *members) {
	const expected = `expected "1.0", the version this gateway reads`
	version := root.must(expected, "schema_version")
	if version == "" {
		return
	}
	minor, ok := strings.CutPrefix(version, "1.")
	for i := range len(minor) {
		ok = ok && digit(minor[i])
	}
	if !ok || minor == "" {
		p.fault(root.pathOf("schema_version"), "is %q; %s (any 1.x)", aai.CleanLabel(version, maxName), expected)
	}
}

// generated reads the source of a generated descriptor.
func (p *parser) generated(root *members) {
	n := root.take("generated")
	if n == nil {
		return
	}
	m := p.members(n, ` with "from" and "digest"`)
	from, digest := aai.CleanLabel(m.text("from"), maxText), m.text("digest")
	m.unknown()
	if raw, err := hex.DecodeString(digest); err != nil || len(raw) != sha256.Size {
		if n.Kind == object {
			p.fault(m.pathOf("digest"), "is %q; expected a SHA-256 in hexadecimal", aai.CleanLabel(digest, 2*maxName))
		}
		return
	}
	p.doc.Generated = &Generated{From: from, Digest: digest}
}

// multiPlatform reads the dialect of section 2.5: one app with a section of tools for each
// platform.
func (p *parser) multiPlatform(root *members) []*section {
	p.identity(root, "appId", "app_id")
	return p.platformSections(root.take("platforms"))
}

// singlePlatform reads the dialect with "app", "execution" and one list of tools.
func (p *parser) singlePlatform(root *members) []*section {
	app := root.take("app")
	if app == nil {
		p.fault(root.pathOf("app"), `missing; expected an object with "id", "name" and "description"`)
	} else {
		about := p.members(app, ` with "id", "name" and "description"`)
		p.identity(about, "id")
		about.unknown()
	}
	if aliases := root.take("aliases"); aliases != nil {
		p.aliases(aliases)
	}
	if s := p.executionSection(root); s != nil {
		return []*section{s}
	}
	return nil
}

// section is the state of reading a section.
type section struct {
	Section
	nodes []*node  // of the tools
	outer *members // the object with the tools and "auth"
	// fromServer means that a server provides the tools and may have more than are listed.
	fromServer bool
	server     *aai.Recipe // the recipe that reaches the server itself; nil: no server
}

// hostOnly reports whether the section's tools cannot run from another platform, such as over adb.
func (s *section) hostOnly() bool { return s.Automation == "ipc" || s.Command != "" }

// choose selects the tools of one section: the host's own if there is one, else the first that a
// driver can run, else the first.
func (p *parser) choose(sections []*section) {
	if len(sections) == 0 {
		return
	}
	chosen := sections[0]
	for _, s := range sections {
		if p.drivable(s) {
			chosen = s
			break
		}
	}
	for _, s := range sections {
		if s.Platform == p.o.HostPlatform {
			chosen = s
		}
	}
	p.app.Platform, p.chosen = chosen.Platform, chosen
	p.app.Site.BaseURL, p.app.Site.Auth, p.app.Site.Hosts = cmp.Or(chosen.BaseURL, chosen.URL), chosen.Auth, p.hosts(chosen)
	p.app.Site.Logins = chosen.loginRequests()
	p.setServer(chosen)
	p.app.Tools = make([]*aai.Tool, len(chosen.Tools))
	p.run = make([]*aai.Recipe, len(chosen.Tools))
	for i := range chosen.Tools {
		p.app.Tools[i], p.run[i] = p.tool(chosen, &chosen.Tools[i]), p.localize(chosen.Tools[i].Recipe)
		p.compileTool(chosen, p.app.Tools[i], p.run[i], chosen.nodes[i])
		if run, back := p.app.Tools[i].Run, chosen.Tools[i].Undo; run != nil && back != nil {
			p.app.Tools[i].Run = withUndo(run, back, p.app)
		}
	}
}

// loginRequests returns a request for each further login, which tells where its credentials go.
func (s *section) loginRequests() []*aai.HTTPRecipe {
	var requests []*aai.HTTPRecipe
	for _, tool := range s.Tools {
		h := tool.Recipe.HTTP
		if h != nil && h.Auth != nil && h.Auth.Login != "" &&
			!slices.ContainsFunc(requests, func(r *aai.HTTPRecipe) bool { return r.Auth == h.Auth }) {
			requests = append(requests, h)
		}
	}
	return requests
}

// setServer sets the app's server if the section leaves the list of tools to a server.
func (p *parser) setServer(s *section) {
	if s.server == nil || len(s.Tools) > 0 || len(p.faults.List) > 0 {
		return
	}
	driver := p.driver(s, s.server)
	if driver == nil {
		return
	}
	if _, err := driver.Compile(s.server); err != nil {
		p.fault(s.outer.node.Path(), "%s", aai.AsError(err).Message)
		return
	}
	p.app.Server = s.server
}

// localize returns the recipe with the command of its desktop entry on this computer.
func (p *parser) localize(r *aai.Recipe) *aai.Recipe {
	if r.Start == "" || p.o.EntryCommand == nil {
		return r
	}
	here := *r
	here.Starts = p.o.EntryCommand(r.Start)
	return &here
}

func (p *parser) drivable(s *section) bool {
	if s.server != nil && p.driver(s, s.server) != nil {
		return true
	}
	for _, tool := range s.Tools {
		if p.driver(s, tool.Recipe) != nil {
			return true
		}
	}
	return false
}

func (p *parser) driver(s *section, r *aai.Recipe) aai.Driver {
	if r.Kind == "" || s.hostOnly() && s.Platform != p.o.HostPlatform {
		return nil
	}
	if d, ok := p.o.Drivers[r.Platform+"/"+r.Kind]; ok {
		return d
	}
	return p.o.Drivers[r.Kind]
}

// compileTool sets the tool's Action if there is a driver for it.
func (p *parser) compileTool(s *section, tool *aai.Tool, r *aai.Recipe, at *node) {
	driver := p.driver(s, r)
	if driver == nil || len(p.faults.List) > 0 {
		return
	}
	_, err := driver.Compile(r)
	if err == nil {
		tool.Run = (&lateAction{driver: driver, recipe: r}).run
		return
	}
	failure := aai.AsError(err)
	if failure.Code == aai.PermissionDenied {
		tool.Implementation.Unavailable = failure
		p.warn(at.Path(), "cannot be used: %s", failure.Message)
		return
	}
	p.fault(at.Path(), "%s", failure.Message)
}
