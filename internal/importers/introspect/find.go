package introspect

import (
	"cmp"
	"context"
	"regexp"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

const mprisNamePrefix = "org.mpris.MediaPlayer2."

// A serviceMatch is the service that a request names.
type serviceMatch struct {
	bus         string
	services    []string // the main one first
	entry       *entry
	running     bool
	activatable bool // the bus can start it
}

// find finds the service by its bus name, or by the desktop entry of a program, without a call to
// the program itself. The error is an *aai.Error, also if the policy denies the program.
func (g *Generator) find(ctx context.Context, app, bus string) (*serviceMatch, error) {
	if err := g.checkReachable(app, bus); err != nil {
		return nil, err
	}
	buses := []string{"session", "system"}
	if bus != "" {
		buses = []string{bus}
	}
	var candidates []string
	var first error
	for _, b := range buses {
		f, near, err := g.findOn(ctx, app, b)
		if f != nil {
			return f, cmp.Or(g.checkReachable(f.services[0], b), g.checkAllowed(f))
		}
		candidates = append(candidates, slices.DeleteFunc(near, func(name string) bool { return g.checkReachable(name, b) != nil })...)
		if err != nil && first == nil && (b != "system" || bus != "") {
			first = err
		}
	}
	if first != nil {
		return nil, first
	}
	e := aai.Errorf(aai.AppNotFound, "app: no service on D-Bus is %q, and no program with a service has a desktop entry "+
		"of that name; expected a bus name such as org.example.Mail, or a desktop id", aai.CleanLabel(app, 100))
	e.Candidates = aai.Nearest(app, append(candidates, g.entryIDs()...), 5)
	e.Hint = "Start the program first: many have a service only while they run."
	if g.entryByApp(app) != nil {
		e = aai.Errorf(aai.AppNotRunning, "app: the program %q has no service on D-Bus now", aai.CleanLabel(app, 100))
		e.Candidates = similarNames(app, candidates)
		e.Hint = "Start the program, if it does not run, and try again. A program without a service cannot be described; " +
			"operate its windows by the desktop's tools."
	}
	return nil, e
}

// similarNames returns a few names that contain the app's last part, as "org.mate.atril.Daemon"
// contains "atril".
func similarNames(app string, all []string) []string {
	var found []string
	for _, name := range slices.Compact(slices.Sorted(slices.Values(all))) {
		if slices.ContainsFunc(strings.Split(name, "."),
			func(part string) bool { return strings.EqualFold(part, lastPart(app)) }) {
			found = append(found, name)
		}
	}
	return found[:min(len(found), 5)]
}

// checkReachable returns an error if no descriptor may reach the service, whether it runs or not.
func (g *Generator) checkReachable(service, bus string) error {
	if !wire.ValidBusName(service) {
		return nil
	}
	_, err := g.cfg.Driver.Compile(&aai.Recipe{Platform: "linux", DBus: &aai.DBusRecipe{
		Bus: bus, Service: service, Object: "/", Interface: introspectable, Method: "Introspect",
	}})
	if err == nil || aai.AsError(err).Code != aai.PermissionDenied {
		return nil
	}
	return err
}

// checkAllowed returns an error if the policy denies the program by any of its names.
func (g *Generator) checkAllowed(f *serviceMatch) error {
	if g.cfg.CheckAllowed == nil {
		return nil
	}
	id := stripInstance(f.services[0])
	app := &aai.App{ID: id, Name: lastPart(id), Aliases: f.services}
	if e := f.entry; e != nil {
		app.Name = strings.Join([]string{app.Name, e.Name, e.Local}, "|")
		app.Aliases = append(slices.Clone(f.services), e.ID, e.program())
	}
	return g.cfg.CheckAllowed(app)
}

// findOn finds the service on one bus. If it is absent, it returns the known names.
func (g *Generator) findOn(ctx context.Context, app, bus string) (*serviceMatch, []string, error) {
	listed, err := g.ask.callBus(ctx, bus, "ListNames")
	if err != nil {
		return nil, nil, err
	}
	startable, err := g.ask.callBus(ctx, bus, "ListActivatableNames")
	if err != nil {
		return nil, nil, err
	}
	f := &serviceMatch{bus: bus}
	running := slices.DeleteFunc(names(listed), func(name string) bool { return strings.HasPrefix(name, ":") })
	all := append(slices.Clone(running), names(startable)...)
	name := app
	if f.entry = g.entryByID(app); !slices.Contains(all, name) {
		f.entry = g.entryByApp(app)
		name = serviceOf(app, f.entry, all)
	}
	if name == "" || strings.HasPrefix(name, ":") || !wire.ValidBusName(name) {
		return nil, all, nil
	}
	if f.entry == nil {
		f.entry = g.entryOfService(name)
	}
	f.running, f.activatable = slices.Contains(running, name), slices.Contains(names(startable), name)
	f.services = []string{name}
	if f.running {
		f.services = append(f.services, g.siblings(ctx, bus, name, running)...)
	}
	return f, nil, nil
}

// stripInstance removes the number of a process from a service name, such as "org.kde.kate-123",
// "org.gtk.vfs.mountpoint_123" or "org.mpris.MediaPlayer2.vlc.instance123". The stripped name
// still matches after a restart.
func stripInstance(name string) string {
	if name == "" || name[len(name)-1] < '0' || name[len(name)-1] > '9' {
		return name
	}
	return regexp.MustCompile(`([-._](instance_?)?_?[0-9]+)+$`).ReplaceAllString(name, "")
}

// serviceOf returns the bus name of a program with this desktop id, or "". The name equals the id, or is that of one
// of the program's processes or of a media player.
func serviceOf(app string, e *entry, all []string) string {
	id := strings.TrimSuffix(app, ".desktop")
	words := []string{id}
	if e != nil {
		words = append(words, e.ID)
		if program := e.program(); program != "" {
			words = append(words, program)
		}
	}
	for _, is := range []func(name, word string) bool{
		func(name, word string) bool { return name == word },
		strings.EqualFold,
		func(name, word string) bool {
			return stripInstance(name) != name && strings.EqualFold(stripInstance(name), word)
		},
		func(name, word string) bool {
			return !strings.HasPrefix(name, mprisNamePrefix) && strings.EqualFold(lastPart(stripInstance(name)), lastPart(word))
		},
		func(name, word string) bool {
			player, ok := strings.CutPrefix(name, mprisNamePrefix)
			return ok && strings.EqualFold(stripInstance(player), lastPart(word))
		},
	} {
		for _, word := range words {
			for _, name := range slices.Sorted(slices.Values(all)) {
				if !strings.HasPrefix(name, ":") && is(name, word) {
					return name
				}
			}
		}
	}
	return ""
}

func lastPart(name string) string { return name[strings.LastIndex(name, ".")+1:] }

// entryOfService returns the desktop entry with the name of a service.
func (g *Generator) entryOfService(name string) *entry {
	plain := stripInstance(name)
	for _, id := range []string{name, plain, strings.TrimPrefix(plain, mprisNamePrefix), strings.ToLower(plain)} {
		if e := g.entryByID(id); e != nil {
			return e
		}
	}
	return nil
}

// siblings returns a further bus name of the process that has the name, if the process offers
// MPRIS there.
func (g *Generator) siblings(ctx context.Context, bus, name string, running []string) []string {
	owner, err := g.ask.callBus(ctx, bus, "GetNameOwner", name)
	if err != nil {
		return nil
	}
	var found []string
	for _, other := range running {
		if other == name || !strings.HasPrefix(other, mprisNamePrefix) {
			continue
		}
		if theirs, err := g.ask.callBus(ctx, bus, "GetNameOwner", other); err == nil && theirs == owner {
			found = append(found, other)
		}
	}
	slices.Sort(found)
	return found[:min(len(found), 1)]
}
