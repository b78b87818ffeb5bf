package catalog

import (
	"bytes"
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Options say how descriptors are read. The zero Options read one for a computer
// without any driver.
type Options struct {
	// HostPlatform is the platform of this computer: "linux", "macos" or "windows".
	HostPlatform string
	// Drivers make Actions of recipes. A driver is looked up by
	// "<platform>/<kind>", such as "linux/ipc", and then by "<kind>", such as
	// "dbus"; see [aai.Recipe.Kind].
	Drivers map[string]aai.Driver
	// DefaultTimeout is for tools that name none; zero means aai.DefaultTimeout.
	// Android's 5 seconds and iOS's 10 are the protocol's and stay.
	DefaultTimeout time.Duration
	// EntryCommand is the command of the desktop entry with the id, "" where there is none; nil: no
	// app is started by one.
	EntryCommand func(id string) string
	// Source is where the descriptor was found; it becomes App.Source.
	Source string
	// DesktopFile is the .desktop file that names the descriptor, such as "cmus.desktop", if
	// that is how it was found: it says how the app is started.
	DesktopFile string
	// Modified is when that was last written; it becomes App.Modified.
	Modified time.Time
	// Origin is where a descriptor was fetched that nobody placed on this computer,
	// such as "https://example.com"; empty for one that somebody did. Of a stranger's
	// descriptor, claims about its tools' effects may raise the risk but not lower
	// it, and the app's id begins with the host, such as "example.com/org.example.Mail",
	// so that it can never be taken for an app of this computer; aliases are dropped.
	// Its limits are tighter: 256 KiB, 5,000 JSON values and 100 tools.
	Origin string
}

// A Descriptor is an aai.json that was read and found right.
type Descriptor struct {
	App *aai.App
	// Document is what was read, with every section that is known.
	Document *Document
	// Recipes are those of every section, in the order of the file, also of
	// sections that are not for this computer. The kind of one is empty where the
	// way of execution is known but not supported.
	Recipes []*aai.Recipe
	// Warnings are about what was tolerated.
	Warnings []Fault
}

// Parse reads a descriptor in either dialect: that of the protocol's section 2.5
// ("appId", "platforms") and the single-platform one ("platform", "app",
// "execution"). Keys may be in snake_case or camelCase. A schema_version of 1.x is
// read, since a minor version only adds.
//
// The error is an *aai.Error with code AAI_JSON_INVALID whose message names the
// JSON path, what is wrong there and what was expected; its cause is a *Faults
// with everything that was found. Safe for concurrent use.
func Parse(source []byte, o Options) (*Descriptor, error) {
	d, faults := new(reader).parse(source, o)
	if err := faults.err(); err != nil {
		return nil, err
	}
	return d, nil
}

// parse is Parse which also gives, with faults, what little it could read: the
// id and the name by which people may ask for the app.
func (r *reader) parse(source []byte, o Options) (*Descriptor, *Faults) {
	sum := sha256.Sum256(source)
	body := bytes.TrimPrefix(source, []byte("\xef\xbb\xbf"))
	p := &parser{o: o, reader: r, kinds: r.table(), app: &aai.App{
		Digest: hex.EncodeToString(sum[:]), Source: o.Source, Modified: o.Modified, Descriptor: json.RawMessage(body),
		Origin: o.Origin,
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
	return &Descriptor{App: p.app, Document: &p.doc, Recipes: p.recipes, Warnings: p.warnings.List}, &p.faults
}

// compile makes the app of what was read.
func (p *parser) compile(sections []*section) {
	p.app.ID, p.app.Name, p.app.Description = p.doc.ID, p.doc.Name, p.doc.Description
	p.app.Version, p.app.Aliases = p.doc.Version, p.doc.Aliases
	for _, s := range sections {
		p.doc.Sections = append(p.doc.Sections, s.Section)
		for _, tool := range s.Tools {
			p.recipes = append(p.recipes, tool.Recipe)
		}
	}
	p.choose(sections)
	p.qualifyWebID()
	p.setDigests()
}

// qualifyWebID gives an app from the web a name that none of this computer can have.
func (p *parser) qualifyWebID() {
	if p.o.Origin == "" || p.app.ID == "" {
		return
	}
	_, host, _ := strings.Cut(p.o.Origin, "://")
	p.app.ID, p.app.Aliases = host+"/"+p.app.ID, nil
}

// isSchema reports whether n is a schema of a tool: tools[i].parameters or
// tools[i].returns. Those are the schema reader's to read.
func isSchema(n *node) bool {
	if n.Name != "parameters" && n.Name != "returns" {
		return false
	}
	tool := n.Parent
	return tool.Index() >= 0 && tool.Parent != nil && tool.Parent.Name == "tools"
}

// parser reads one descriptor.
type parser struct {
	o        Options
	reader   *reader
	kinds    []kind
	doc      Document
	app      *aai.App
	recipes  []*aai.Recipe
	run      []*aai.Recipe // of the app's tools, as they are compiled
	chosen   *section      // whose tools are the app's; nil: none
	faults   Faults
	warnings Faults

	schemas map[string]schema.Facts // by source

	paramSetOf *aai.Recipe // whose parameters are in the set
	paramSet   map[string]bool
}

func (p *parser) fault(path, format string, args ...any) {
	p.faults.add(path, fmt.Sprintf(format, args...))
}

func (p *parser) warn(path, format string, args ...any) {
	p.warnings.add(path, fmt.Sprintf(format, args...))
}

// document tells the dialects apart by their shape.
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

// generated reads of what a program made the descriptor.
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

// multiPlatform reads the dialect of section 2.5: one app with a section of
// tools for each platform.
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

// section is one that is being read.
type section struct {
	Section
	nodes []*node  // of the tools
	outer *members // the object with the tools, and with "auth"
	// fromServer says that the tools are a server's, which knows of more than are listed.
	fromServer bool
	server     *aai.Recipe // of all of them; nil: there is none
}

// hostOnly reports whether its tools cannot run from another platform, such as over adb.
func (s *section) hostOnly() bool { return s.Automation == "ipc" || s.Command != "" }

// choose takes the tools of one section: the host's own if there is one, else
// the first that a driver can run, else the first.
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
	p.app.BaseURL, p.app.Auth, p.app.Hosts = cmp.Or(chosen.BaseURL, chosen.URL), chosen.Auth, p.hosts(chosen)
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

// setServer says how the app is reached, where the section leaves it to a server to say what
// tools there are.
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

// localize is the recipe with what only this computer can say.
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

// compileTool gives the tool its Action, where there is a driver for it.
func (p *parser) compileTool(s *section, tool *aai.Tool, r *aai.Recipe, at *node) {
	driver := p.driver(s, r)
	if driver == nil || len(p.faults.List) > 0 {
		return
	}
	run, err := driver.Compile(r)
	if err == nil {
		tool.Run = run
		return
	}
	failure := aai.AsError(err)
	if failure.Code == aai.PermissionDenied {
		tool.Unavailable = failure
		p.warn(at.Path(), "cannot be used: %s", failure.Message)
		return
	}
	p.fault(at.Path(), "%s", failure.Message)
}
