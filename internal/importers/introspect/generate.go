package introspect

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/lint"
)

// Config configures a Generator.
type Config struct {
	// Driver runs recipes over D-Bus; nil: D-Bus is unavailable.
	Driver aai.Driver
	// COM describes classes by their type libraries; nil: COM is unavailable.
	COM COMDriver
	// EntryFolders are the folders of desktop entries, highest precedence first.
	EntryFolders []string
	// Folder is the folder of saved descriptors, <folder>/<app id>/aai.json; empty: none is saved.
	Folder string
	// CheckAllowed returns an error if the policy denies reading a resolved program; may be nil.
	CheckAllowed func(*aai.App) error
	// Language returns the person's locale, such as "de_AT"; may be nil.
	Language func() string
	// ExternalSource returns the current digest of a source that is not on a bus, and the command
	// that regenerates its app; may be nil.
	ExternalSource func(context.Context, *catalog.Document) (digest, again string, err error)
}

// A Generator drafts and saves descriptors of programs. It is safe for concurrent use.
type Generator struct {
	cfg Config
	ask busCaller
}

// New returns a Generator. It does no I/O.
func New(cfg Config) *Generator {
	driver := cfg.Driver
	if cfg.COM != nil {
		driver = cfg.COM
	}
	return &Generator{cfg, busCaller{driver: driver}}
}

// withStart returns a copy that starts programs if the request allows it.
func (g *Generator) withStart(r Request) *Generator {
	return &Generator{g.cfg, busCaller{g.ask.driver, r.Start}}
}

func (g *Generator) language() string {
	if g.cfg.Language == nil {
		return ""
	}
	return g.cfg.Language()
}

// A Request selects the program to describe.
type Request struct {
	App   string // a bus name, a desktop id, or a desktop entry's file name
	Bus   string // "session" or "system"; empty: the first with a match
	Start bool   // the bus may start the service
	Tools int    // maximum number; zero: the default
	Full  bool   // show the whole difference
}

// Limits on the number of tools. Agents choose best among few.
const (
	defaultTools = 80
	maxTools     = 200
)

// fromBus is the prefix of a generated descriptor's source.
const fromBus = "dbus:"

// A Draft is a generated descriptor before review.
type Draft struct {
	Document *catalog.Document
	Text     []byte             // the document, as it would be saved
	Notes    []string           // omissions, and points for a person to review
	Report   *answer.LintReport // lint's findings on Text; none is an error
}

// Draft returns a generated descriptor of the program that r selects. It starts the program only if r allows it, and
// calls only methods that read. The error is an *aai.Error.
func (g *Generator) Draft(ctx context.Context, r Request) (*Draft, error) {
	g = g.withStart(r)
	if g.cfg.COM != nil {
		return g.draftCOM(ctx, r)
	}
	if g.cfg.Driver == nil {
		e := aai.Errorf(aai.AutomationNotSupported,
			"descriptors are generated from services on D-Bus, which this computer has not")
		e.Hint = "Write the aai.json by hand: docs/descriptors.md; aai-gateway lint looks at it."
		return nil, e
	}
	f, err := g.find(ctx, strings.TrimSpace(r.App), r.Bus)
	if err != nil {
		return nil, err
	}
	if !f.running && !r.Start {
		e := aai.Errorf(aai.AppNotRunning, "app: %s does not run, and was not started", f.services[0])
		e.Hint = "Start the program, or let the bus start it: --start."
		return nil, e
	}
	notes := &noteList{}
	s, err := g.walk(ctx, f, notes)
	if err != nil {
		return nil, err
	}
	digest, err := s.digest()
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "the source's digest cannot be made: %w", err)
	}
	d := &drafter{source: s, notes: notes}
	list := g.reachable(d.proposals(), notes)
	if len(list) == 0 {
		e := aai.Errorf(aai.AutomationNotSupported, "%s offers nothing that could be a tool", f.services[0])
		e.Hint = "Its windows, if it has some, can be operated by the desktop's tools."
		return nil, e
	}
	if list, err = g.check(ctx, limitByRank(list, r.Tools, notes), notes); err != nil {
		return nil, err
	}
	list = assignNames(list)
	if name := s.Services[0]; stripInstance(name) != name {
		notes.add("the name %s is that of one process: when the program was started again, generate it again", name)
	}
	doc := document(f, s, list)
	doc.Generated = &catalog.Generated{From: fromBus + stripInstance(s.Services[0]), Digest: digest}
	draft := &Draft{Document: doc}
	if err := draft.finish(list); err != nil {
		return nil, err
	}
	draft.Notes = append(notes.list, namesReadByName(list)...)
	return draft, nil
}

// reachable returns the proposals that the driver accepts.
func (g *Generator) reachable(list []proposal, notes *noteList) []proposal {
	var kept []proposal
	for _, p := range list {
		if _, err := g.cfg.Driver.Compile(p.declared.Recipe); err != nil {
			notes.add("%s is left out: %s", p.callee, aai.AsError(err).Message)
			continue
		}
		kept = append(kept, p)
	}
	return kept
}

// limitByRank returns at most most proposals with the best ranks, in their original order.
func limitByRank(list []proposal, most int, notes *noteList) []proposal {
	most = min(cmp.Or(most, defaultTools), maxTools)
	if len(list) <= most {
		return list
	}
	at := make([]int, len(list))
	for i := range at {
		at[i] = i
	}
	slices.SortStableFunc(at, func(a, b int) int { return cmp.Compare(list[a].rank, list[b].rank) })
	at = at[:most]
	slices.Sort(at)
	kept := make([]proposal, 0, most)
	for _, i := range at {
		kept = append(kept, list[i])
	}
	notes.add("%d of %d tools are in the descriptor; --tools sets the maximum, up to %d", most, len(list), maxTools)
	return kept
}

// assignNames gives each proposal a unique name and a unique description.
func assignNames(list []proposal) []proposal {
	n := nameAllocator{map[string]bool{}}
	same := map[string]int{}
	for i := range list {
		p := &list[i]
		p.declared.Name = n.allocate(p.candidateNames...)
		p.declared.Recipe.Tool = p.declared.Name
		same[p.declared.Description]++
	}
	for i := range list {
		p := &list[i]
		if same[p.declared.Description] > 1 {
			p.declared.Description = aai.CleanLabel(strings.TrimSuffix(p.declared.Description, "."),
				maxDescription-len(p.callee)-3) + " (" + p.callee + ")."
		}
		p.plainDescription = aai.CleanLabel(strings.TrimSuffix(p.plainDescription, "."), maxDescription-len(p.callee)-3) +
			" (" + p.callee + ")."
	}
	return list
}

// namesReadByName returns a note about the tools that read only according to their names.
func namesReadByName(list []proposal) []string {
	var found []string
	for _, p := range list {
		if p.readByName {
			found = append(found, p.declared.Name)
		}
	}
	if len(found) == 0 {
		return nil
	}
	return []string{"assumed to read, only by their names; check each: " + strings.Join(found, ", ")}
}

// titleOf returns the name of a service without a desktop entry. The last part of its bus name
// may be generic, such as "daemon".
func titleOf(service string) string {
	parts := strings.Split(service, ".")
	last := len(parts) - 1
	if slices.Contains([]string{"daemon", "service", "server", "app", "application", "manager", "main"},
		strings.ToLower(parts[last])) && last > 1 {
		return sentence(parts[last-1]) + " " + strings.ToLower(parts[last])
	}
	return sentence(parts[last])
}

// document returns a document with the proposed tools.
func document(f *serviceMatch, s *source, list []proposal) *catalog.Document {
	service := stripInstance(s.Services[0])
	first := list[0].declared.Recipe.DBus
	section := catalog.Section{Platform: "linux", Automation: "dbus", AppAddress: catalog.AppAddress{
		Bus: s.Bus, Service: s.Services[0], Object: first.Object, Interface: first.Interface,
	}}
	for i := range list {
		list[i].declared.Recipe.App = service
		section.Tools = append(section.Tools, list[i].declared)
	}
	doc := &catalog.Document{ID: service, Version: "1.0.0", Name: titleOf(service)}
	doc.Description = "What " + doc.Name + " offers to other programs over D-Bus."
	if e := s.Entry; e != nil {
		if e.Name != "" {
			doc.Name = e.Name
			doc.Description = "What " + e.Name + " offers to other programs over D-Bus."
		}
		if words := cmp.Or(e.Comment, e.Generic); words != "" {
			doc.Description = padDescription(words)
		}
		if e.Local != "" {
			doc.Name += "|" + e.Local
		}
		if !f.activatable && e.exec != "" {
			section.DesktopFile = e.ID + ".desktop"
		}
		if e.ID != service && !strings.EqualFold(e.ID, doc.Name) {
			doc.Aliases = append(doc.Aliases, e.ID)
		}
	}
	doc.Sections = []catalog.Section{section}
	return doc
}

// finish writes the document, and replaces untrusted text that lint warns of.
func (d *Draft) finish(list []proposal) error {
	for range 3 { // first the description, then those of parameters, then a check of the result
		if err := d.write(); err != nil {
			return err
		}
		if !d.replaceSuspicious(list) {
			break
		}
	}
	return nil
}

// write encodes the document. An error is a bug of this package: any introspection data must
// produce a valid descriptor.
func (d *Draft) write() error {
	text, err := d.Document.Marshal()
	if err != nil {
		return err
	}
	d.Text, d.Report = text, lint.Check(text, catalog.Options{HostPlatform: d.Document.Sections[0].Platform})
	for _, f := range d.Report.Findings {
		if f.Severity == answer.SeverityError {
			return aai.Errorf(aai.Internal, "the generated descriptor is invalid: %s: %s", f.Path, f.Problem)
		}
	}
	return nil
}
