package introspect

import (
	"context"
	"slices"
	"strings"
	"unicode"

	"github.com/gybob/aai-gateway"
)

// Limits on the objects of one service.
const (
	maxObjects     = 200 // introspected objects
	maxPathDepth   = 12
	maxObjectsKept = 60 // objects with members of their own
)

// walk introspects the objects of the services, within limits.
func (g *Generator) walk(ctx context.Context, f *serviceMatch, notes *noteList) (*source, error) {
	s := &source{Bus: f.bus, Services: f.services, Entry: f.entry}
	for i, service := range f.services {
		w := &objectWalk{asker: g.ask, notes: notes, at: address{bus: f.bus, service: service}, seen: map[string]bool{},
			shapes: map[string]bool{}}
		if err := w.run(ctx); err != nil && (i == 0 || ctx.Err() != nil) {
			return nil, err
		}
		s.Objects = append(s.Objects, w.taken...)
	}
	return s, nil
}

// An objectWalk visits the objects of a service in breadth-first order.
type objectWalk struct {
	asker      busCaller
	notes      *noteList
	at         address
	queue      []string
	seen       map[string]bool
	shapes     map[string]bool // shapes already taken, per parent
	taken      []object
	queried    int
	timeouts   int
	firstError error // of an unreadable object
}

// mainPath returns the conventional path of a service's main object.
func mainPath(service string) string {
	if strings.HasPrefix(service, mprisNamePrefix) {
		return "/org/mpris/MediaPlayer2"
	}
	service = stripInstance(service)
	return "/" + strings.NewReplacer(".", "/", "-", "_").Replace(service)
}

func (w *objectWalk) run(ctx context.Context) error {
	w.queue = []string{mainPath(w.at.service), "/"}
	for len(w.queue) > 0 && w.queried < maxObjects && len(w.taken) < maxObjectsKept {
		path := w.queue[0]
		w.queue = w.queue[1:]
		if w.seen[path] {
			continue
		}
		w.seen[path] = true
		if err := w.inspect(ctx, path); err != nil {
			return err
		}
	}
	if len(w.queue) > 0 {
		w.notes.add("%s has more objects than are asked (%d); the others are left out", w.at.service, w.queried)
	}
	if len(w.taken) == 0 {
		if w.firstError != nil {
			return w.firstError
		}
		e := aai.Errorf(aai.AutomationNotSupported, "%s describes nothing that can be called", w.at.service)
		e.Hint = "Its windows, if it has some, can be operated by the desktop's tools."
		return e
	}
	slices.SortStableFunc(w.taken, func(a, b object) int { return strings.Compare(a.Path, b.Path) })
	main := mainPath(w.at.service)
	slices.SortStableFunc(w.taken, func(a, b object) int {
		return objectOrder(b.Path == main) - objectOrder(a.Path == main)
	})
	return nil
}

func objectOrder(first bool) int {
	if first {
		return 1
	}
	return 0
}

// inspect introspects one object. Its error ends the walk: the program does not answer, has
// exited or may not be reached.
func (w *objectWalk) inspect(ctx context.Context, path string) error {
	w.queried++
	at := w.at
	at.path = path
	answer, err := w.asker.call(ctx, at, introspectable, "Introspect")
	if err != nil {
		e := aai.AsError(err)
		if w.isFatal(ctx, e) || e.Code == aai.PermissionDenied && w.queried == 1 {
			return e
		}
		w.noteFailure(path, e)
		return nil
	}
	text, ok := answer.(string)
	if !ok {
		w.noteFailure(path, aai.Errorf(aai.AutomationFailed, "answers Introspect with no text"))
		return nil
	}
	o, err := parseObject(text, w.notes)
	if err != nil {
		w.noteFailure(path, aai.Errorf(aai.AutomationFailed, "%w", err))
		return nil
	}
	o.Service, o.Path = w.at.service, path
	if slices.ContainsFunc(o.Interfaces, func(f iface) bool { return f.Name == kdeWindow }) {
		o.children = nil // each of its actions and widgets is an object too
	}
	for _, child := range o.children {
		if below := strings.TrimSuffix(path, "/") + "/" + child; strings.Count(below, "/") <= maxPathDepth {
			w.queue = append(w.queue, below)
		}
	}
	return w.addObject(ctx, o)
}

// isFatal reports whether further calls are pointless: the program has exited, or does not even
// answer Ping, which its D-Bus library implements.
func (w *objectWalk) isFatal(ctx context.Context, e *aai.Error) bool {
	if e.Code != aai.Timeout {
		return e.Code == aai.AppNotRunning
	}
	if w.timeouts++; w.timeouts > maxTimeouts {
		return true
	}
	at := w.at
	at.path = "/"
	_, err := w.asker.call(ctx, at, "org.freedesktop.DBus.Peer", "Ping")
	return err != nil && aai.AsError(err).Code == aai.Timeout
}

// maxTimeouts limits the calls that time out before the walk ends.
const maxTimeouts = 3

// noteFailure records that an object is unreadable.
func (w *objectWalk) noteFailure(path string, e *aai.Error) {
	w.notes.add("%s %s is left out: %s", w.at.service, path, e.Message)
	if w.firstError == nil {
		miss := *e
		miss.Message = w.at.service + " " + path + " " + e.Message
		miss.Hint = "Report it to the program's maker: it breaks the D-Bus specification. Other programs cannot use it either."
		w.firstError = &miss
	}
}

// addObject keeps an object that offers members. Of several similar objects below one parent it
// keeps the first.
func (w *objectWalk) addObject(ctx context.Context, o *object) error {
	if err := w.actions(ctx, o); err != nil {
		return err
	}
	o.Interfaces = slices.DeleteFunc(o.Interfaces, func(f iface) bool { return isInfrastructure(f.Name) })
	if len(o.Interfaces) == 0 && len(o.Actions) == 0 && len(o.Main) == 0 {
		return nil
	}
	if isTransientName(lastElement(o.Path)) {
		w.notes.add("%s %s is left out: its name differs for each such object", w.at.service, o.Path)
		return nil
	}
	if shape := shapeOf(o); w.shapes[shape] {
		w.notes.add("%s %s is like its siblings, of which the first is taken", w.at.service, o.Path)
		return nil
	} else if shape != "" {
		w.shapes[shape] = true
	}
	w.taken = append(w.taken, *o)
	return nil
}

// isTransientName reports whether an object's name seems generated for a short-lived object: it
// contains many consecutive hexadecimal digits, or a memory address.
func isTransientName(name string) bool {
	run := 0
	for i := range len(name) {
		if run == 1 && name[i-1] == '0' && name[i] == 'x' {
			run = 10 // "0x55b01a": six more digits suffice
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

// shapeOf returns a key that is equal for sibling objects with equal interfaces. It is "" for
// names without a digit, which are never merged.
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

// isInfrastructure reports whether an interface serves the bus or a toolkit, not people.
func isInfrastructure(name string) bool {
	switch name {
	case introspectable, properties, "org.freedesktop.DBus.Peer", gtkActions, gtkMenus, "org.gtk.Application", kdeWindow:
		return true
	}
	return strings.HasPrefix(name, "org.gtk.private.") || strings.HasPrefix(name, "org.qtproject.Qt.") ||
		strings.HasPrefix(name, "org.gnome.Sysprof") || isLibraryClass(name)
}

// isLibraryClass reports whether an interface stems from a class of Qt or KDE's libraries that a
// program inherits from: QMainWindow, KXmlGuiWindow.
func isLibraryClass(name string) bool {
	class := lastPart(name)
	return strings.HasPrefix(name, "org.kde.") && len(class) > 2 && (class[0] == 'Q' || class[0] == 'K') &&
		unicode.IsUpper(rune(class[1])) && unicode.IsLower(rune(class[2])) || strings.Contains(name, ".KParts.")
}

// sentence capitalizes the first letter.
func sentence(words string) string {
	for i, r := range words {
		return string(unicode.ToUpper(r)) + words[i+len(string(r)):]
	}
	return words
}
