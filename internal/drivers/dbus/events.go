package dbus

import (
	"context"
	"errors"
	"fmt"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/events"
)

// signalSource receives signals of one service.
type signalSource struct {
	*target
	signals []signalEvent
}

// signalEvent is an event that a signal reports.
type signalEvent struct {
	name, path, iface, member string // an empty path means any
	fields                    []string
}

// CompileEvents implements [aai.EventDriver]. An event's Fields are the signal's values: by the recipe's names, or as the
// list "args". Only signals of the service's owner count. The source starts no service; it reports that the service ended
// or started.
func (d *Driver) CompileEvents(recipes []*aai.Recipe) (aai.EventSource, error) {
	s := &signalSource{}
	for _, r := range recipes {
		b := r.DBus
		if b == nil || !wire.ValidMember(b.Signal) {
			return nil, aai.Errorf(aai.DescriptorInvalid, "signal: expected the name of a D-Bus signal such as Changed, for the event %s", aai.CleanLabel(r.Event, 100))
		}
		path := b.Object
		if path == "" {
			path = "/"
		}
		t, err := d.target(r, b.Bus, b.Service, path, b.Interface, b.Signal)
		if err != nil {
			return nil, err
		}
		if err := checkReach(t.service, path, t.iface, b.Signal); err != nil {
			return nil, err
		}
		if s.target == nil {
			s.target = t
		}
		if s.service != t.service || s.bus != t.bus {
			return nil, invalid("service", "the service of the app's other events, "+s.service, b.Service)
		}
		s.signals = append(s.signals, signalEvent{r.Event, b.Object, b.Interface, b.Signal, b.Fields})
	}
	return s.receive, nil
}

// A signalLink is a connection of a signalSource. A flood of signals on it delays no call, since calls have another one.
type signalLink struct {
	*signalSource
	report func(aai.Event)

	mu    sync.Mutex
	owner string // of the service; "": it does not run
}

// receive implements [aai.EventSource].
func (s *signalSource) receive(ctx context.Context, ready func(), report func(aai.Event)) error {
	l := &signalLink{signalSource: s, report: report}
	begin, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	link, err := s.bus.dial(begin, l.handle)
	if err != nil {
		return s.noBus(err)
	}
	defer link.Close()
	defer context.AfterFunc(ctx, link.Close)()
	if err := l.findOwner(begin, link); err != nil {
		return s.noBus(err)
	}
	for _, e := range s.signals {
		match := fmt.Sprintf("type='signal',sender='%s',interface='%s',member='%s'", s.service, e.iface, e.member)
		if e.path != "" {
			match += ",path='" + e.path + "'"
		}
		if _, err := link.mustCall(begin, "AddMatch", match); err != nil {
			return s.noBus(err)
		}
	}
	ready()
	<-link.Done()
	return errors.New("the connection to the " + s.bus.name + " bus was lost")
}

// findOwner finds the owner of the service. Later changes are signals.
func (l *signalLink) findOwner(ctx context.Context, link *busLink) error {
	for {
		version := link.names.version()
		answer, err := link.CallBus(ctx, "GetNameOwner", l.service)
		if err != nil {
			return err
		}
		texts, err := textsOf(answer, 1)
		l.mu.Lock()
		if link.names.version() == version {
			if answer.Kind == wire.KindReply && err == nil {
				l.owner = texts[0]
			}
			l.mu.Unlock()
			return nil
		}
		l.mu.Unlock()
	}
}

// handle processes a signal after link has. The connection calls it for one signal at a time.
func (l *signalLink) handle(link *busLink, m *wire.Message) {
	l.mu.Lock()
	link.handleSignal(m)
	owner := l.owner
	if m.Sender == wire.BusName {
		if args, err := textsOf(m, 3); err == nil && m.Member == "NameOwnerChanged" && args[0] == l.service {
			l.owner = args[2]
			l.mu.Unlock()
			l.reportOwner(owner, args[2])
			return
		}
	}
	l.mu.Unlock()
	if m.Sender != owner || owner == "" || link.names.deniedNameOf(owner) != "" {
		return
	}
	for i := range l.signals {
		if e := &l.signals[i]; e.member == m.Member && e.iface == m.Interface && (e.path == "" || e.path == m.Path) {
			l.report(aai.Event{Type: e.name, Fields: e.values(m)})
		}
	}
}

// reportOwner reports that the service ended or started.
func (l *signalLink) reportOwner(before, now string) {
	if before != "" {
		l.report(aai.Event{Type: events.Ended})
	}
	if now != "" {
		l.report(aai.Event{Type: events.Started})
	}
}

// values returns the values of the signal as an object.
func (e *signalEvent) values(m *wire.Message) any {
	values, err := valuesOf(m)
	if err != nil {
		return map[string]any{"omitted": "the signal cannot be read: " + aai.CleanLabel(err.Error(), 200)}
	}
	object := map[string]any{}
	if len(e.fields) == 0 {
		object["args"] = values
	}
	for i, name := range e.fields {
		if i < len(values) {
			object[name] = values[i]
		}
	}
	return object
}
