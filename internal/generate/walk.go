package generate

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"aai"
)

// Limits on the objects of one service.
const (
	maxObjects   = 200 // that are asked
	maxPathDepth = 12
	maxTaken     = 60 // that have something of their own
)

// walk asks every object of the services what it says of itself.
func (g *Generator) walk(ctx context.Context, f *found, notes *noted) (*source, error) {
	s := &source{Bus: f.bus, Services: f.services, Entry: f.entry}
	for i, service := range f.services {
		w := &walk{asker: g.ask, notes: notes, at: address{bus: f.bus, service: service}, seen: map[string]bool{}, shapes: map[string]bool{}}
		if err := w.all(ctx); err != nil && (i == 0 || ctx.Err() != nil) {
			return nil, err
		}
		s.Objects = append(s.Objects, w.taken...)
	}
	return s, nil
}

// A walk is one through the objects of a service, nearest first.
type walk struct {
	asker  asker
	notes  *noted
	at     address
	queue  []string
	seen   map[string]bool
	shapes map[string]bool // what was taken already, below one parent
	taken  []object
	asked  int
	hung   int
	first  error // of what could not be read
}

// mainPath is where the object of a service is by custom.
func mainPath(service string) string {
	if strings.HasPrefix(service, mprisPrefix) {
		return "/org/mpris/MediaPlayer2"
	}
	service = unnumbered(service)
	return "/" + strings.NewReplacer(".", "/", "-", "_").Replace(service)
}

func (w *walk) all(ctx context.Context) error {
	w.queue = []string{mainPath(w.at.service), "/"}
	for len(w.queue) > 0 && w.asked < maxObjects && len(w.taken) < maxTaken {
		path := w.queue[0]
		w.queue = w.queue[1:]
		if w.seen[path] {
			continue
		}
		w.seen[path] = true
		if err := w.look(ctx, path); err != nil {
			return err
		}
	}
	if len(w.queue) > 0 {
		w.notes.add("%s has more objects than are asked (%d); the others are left out", w.at.service, w.asked)
	}
	if len(w.taken) == 0 {
		if w.first != nil {
			return w.first
		}
		e := aai.Errorf(aai.AutomationNotSupported, "%s says of itself nothing that could be called", w.at.service)
		e.Hint = "Its windows, if it has some, can be operated by the desktop's tools."
		return e
	}
	slices.SortStableFunc(w.taken, func(a, b object) int { return strings.Compare(a.Path, b.Path) })
	main := mainPath(w.at.service)
	slices.SortStableFunc(w.taken, func(a, b object) int { return order(b.Path == main) - order(a.Path == main) })
	return nil
}

func order(first bool) int {
	if first {
		return 1
	}
	return 0
}

// look asks one object. Its error ends the walk: nothing more is to be had from who does
// not answer, is gone, or may not be reached.
func (w *walk) look(ctx context.Context, path string) error {
	w.asked++
	at := w.at
	at.path = path
	answer, err := w.asker.call(ctx, at, introspectable, "Introspect")
	if err != nil {
		e := aai.AsError(err)
		if w.ends(ctx, e) || e.Code == aai.PermissionDenied && w.asked == 1 {
			return e
		}
		w.miss(path, e)
		return nil
	}
	text, ok := answer.(string)
	if !ok {
		w.miss(path, aai.Errorf(aai.AutomationFailed, "answers Introspect with no text"))
		return nil
	}
	o, err := parseObject(text, w.notes)
	if err != nil {
		w.miss(path, aai.Errorf(aai.AutomationFailed, "%w", err))
		return nil
	}
	o.Service, o.Path = w.at.service, path
	if slices.ContainsFunc(o.Interfaces, func(f iface) bool { return f.Name == kdeWindow }) {
		o.children = nil // each of its actions, and of its widgets, is an object too
	}
	for _, child := range o.children {
		if below := strings.TrimSuffix(path, "/") + "/" + child; strings.Count(below, "/") <= maxPathDepth {
			w.queue = append(w.queue, below)
		}
	}
	return w.take(ctx, o)
}

// ends reports whether nothing more is to be had from the program: it is gone, or does not
// answer even a Ping, which its library does.
func (w *walk) ends(ctx context.Context, e *aai.Error) bool {
	if e.Code != aai.Timeout {
		return e.Code == aai.AppNotRunning
	}
	if w.hung++; w.hung > maxHung {
		return true
	}
	at := w.at
	at.path = "/"
	_, err := w.asker.call(ctx, at, "org.freedesktop.DBus.Peer", "Ping")
	return err != nil && aai.AsError(err).Code == aai.Timeout
}

// maxHung is how many questions may stay without an answer before nothing more is asked.
const maxHung = 3

// miss remembers that an object could not be read.
func (w *walk) miss(path string, e *aai.Error) {
	w.notes.add("%s %s is left out: %s", w.at.service, path, e.Message)
	if w.first == nil {
		miss := *e
		miss.Message = w.at.service + " " + path + " " + e.Message
		miss.Hint = "Tell who makes the program: it breaks the D-Bus specification. Other programs cannot use it either."
		w.first = &miss
	}
}

// take keeps an object that offers something, of several that are alike below one parent
// the first.
func (w *walk) take(ctx context.Context, o *object) error {
	if err := w.actions(ctx, o); err != nil {
		return err
	}
	o.Interfaces = slices.DeleteFunc(o.Interfaces, func(f iface) bool { return plumbing(f.Name) })
	if len(o.Interfaces) == 0 && len(o.Actions) == 0 && len(o.Main) == 0 {
		return nil
	}
	if passing(lastElement(o.Path)) {
		w.notes.add("%s %s is left out: its name is made up anew for each such object", w.at.service, o.Path)
		return nil
	}
	if shape := shapeOf(o); w.shapes[shape] {
		w.notes.add("%s %s is like others beside it, of which the first is taken", w.at.service, o.Path)
		return nil
	} else if shape != "" {
		w.shapes[shape] = true
	}
	w.taken = append(w.taken, *o)
	return nil
}

// passing reports whether the name of an object is one that a program makes up for what
// comes and goes: it holds a long run of hexadecimal digits, or an address of memory.
func passing(name string) bool {
	run := 0
	for i := range len(name) {
		if run == 1 && name[i-1] == '0' && name[i] == 'x' {
			run = 10 // "0x55b01a": six more are enough
			continue
		}
		if strings.IndexByte("0123456789abcdefABCDEF", name[i]) < 0 {
			run = 0
			continue
		}
		if run++; run >= 16 {
			return true
		}
	}
	return false
}

// shapeOf tells objects beside each other apart by what they offer. Those whose name has no
// number, and so is not one of many, are each taken.
func shapeOf(o *object) string {
	parent, name := o.Path[:strings.LastIndex(o.Path, "/")+1], o.Path[strings.LastIndex(o.Path, "/")+1:]
	if !strings.ContainsAny(name, "0123456789") {
		return ""
	}
	words := []string{parent}
	for _, f := range o.Interfaces {
		words = append(words, f.Name)
	}
	if len(o.Actions) > 0 {
		words = append(words, gtkActions)
	}
	return strings.Join(words, " ")
}

// plumbing reports whether an interface serves the bus, or a toolkit, and not people.
func plumbing(name string) bool {
	switch name {
	case introspectable, properties, "org.freedesktop.DBus.Peer", gtkActions, gtkMenus, "org.gtk.Application", kdeWindow:
		return true
	}
	return strings.HasPrefix(name, "org.gtk.private.") || strings.HasPrefix(name, "org.qtproject.Qt.") || strings.HasPrefix(name, "org.gnome.Sysprof") || classOfLibrary(name)
}

// classOfLibrary reports whether an interface is what Qt makes of a class of its own, or of
// KDE's libraries, that a program inherits from: QMainWindow, KXmlGuiWindow.
func classOfLibrary(name string) bool {
	class := lastPart(name)
	return strings.HasPrefix(name, "org.kde.") && len(class) > 2 && (class[0] == 'Q' || class[0] == 'K') &&
		unicode.IsUpper(rune(class[1])) && unicode.IsLower(rune(class[2])) || strings.Contains(name, ".KParts.")
}

// sentence begins with a capital letter.
func sentence(words string) string {
	for i, r := range words {
		return string(unicode.ToUpper(r)) + words[i+len(string(r)):]
	}
	return words
}
