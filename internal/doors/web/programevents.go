package web

import (
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

const (
	eventsPageName = "events"
	// programEventsTool is the tool of the desktop that reads the events of a program.
	programEventsTool = "ax_get_events"

	maxShownEvents = 200
	maxSources     = 10
	// eventsPause is the time for which events of programs are collected before pages reload.
	eventsPause = 300 * time.Millisecond
)

// Programs gives access to the running programs.
type Programs struct {
	// Names returns the names of the running programs.
	Names func(context.Context) []string
	// WatchNames calls changed, which must not block, after a program has come or gone, until stop.
	WatchNames func(changed func()) (stop func())
	// WatchEvents calls changed, which must not block, after each event of the program with the name, until stop.
	WatchEvents func(ctx context.Context, name string, changed func()) (stop func(), err error)
}

// eventsPage shows the events of the programs and apps that the person has chosen.
func eventsPage() page {
	return page{
		name: eventsPageName, path: "/events", nav: true, live: []string{EventPrograms, EventApps, EventConsent}, show: showEvents,
		acts: map[string]act{"add": addSource, "remove": removeSource},
	}
}

// A source is a program of the desktop, or an app whose descriptor has events.
type source struct {
	App     string // aai.DesktopApp for a program
	Program string
}

// Name returns the program, or the app's id.
func (s source) Name() string { return cmp.Or(s.Program, s.App) }

// read reads the last events of the source.
func (s source) read(v *pageRequest) (*aai.Result, error) {
	args := map[string]any{"limit": maxShownEvents}
	if s.Program == "" {
		return v.callApp(s.App, aai.EventsTool, args)
	}
	args["app"] = s.Program
	return v.callApp(aai.DesktopApp, programEventsTool, args)
}

// watch calls changed after each event of the source, until stop.
func (s source) watch(ctx context.Context, d *Door, changed func()) (stop func(), err error) {
	if s.Program != "" {
		return d.programs.WatchEvents(ctx, s.Program, changed)
	}
	app, err := d.gateway.Catalog.Find(ctx, s.App)
	if err != nil {
		return nil, err
	}
	if tool := app.Tool(aai.EventsTool); tool != nil && tool.Implementation.Watch != nil {
		return tool.Implementation.Watch(nil, changed)
	}
	return nil, aai.Errorf(aai.ToolNotFound, "%s reports no events", app.ID)
}

// A shownEvent is an event on the page.
type shownEvent struct {
	Source  string `json:"-"`
	Number  uint64
	Type    string
	Element string
	Title   string
	Detail  string
	Text    string
	Fields  map[string]any
	At      time.Time `json:"timestamp"`
}

// IsKnown reports whether the page has words for the type: it is one of programs, or of every app.
func (e shownEvent) IsKnown() bool {
	return slices.Contains(strings.Fields(`window_opened window_closed window_activated dialog_appeared focus_changed name_changed title_changed value_changed
		text_changed state_changed selection_changed structure_changed notification_appeared events_lost program_ended program_started`), e.Type)
}

// Details returns what the event is about, in short.
func (e shownEvent) Details() string {
	var parts []string
	for _, part := range []string{e.Element, e.Detail, e.Title, e.Text} {
		if part = aai.CleanLabel(part, 200); part != "" {
			parts = append(parts, part)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(e.Fields)) {
		parts = append(parts, aai.CleanLabel(fmt.Sprintf("%s: %v", name, e.Fields[name]), 200))
	}
	return strings.Join(parts, " · ")
}

// A shownSource is a chosen source, with the reason why it cannot be read.
type shownSource struct {
	source
	Fault *aai.Error
}

// eventsPageData is the template data of eventsPage.
type eventsPageData struct {
	Sources []shownSource
	Others  []source // that can be chosen
	Events  []shownEvent
	Full    bool // no more sources can be chosen
}

func showEvents(v *pageRequest) (any, error) {
	v.ctx = aai.NonInteractive(v.ctx) // only the person's choice asks
	var shown eventsPageData
	for _, s := range v.session.events.chosen() {
		result, err := s.read(v)
		v.session.events.setReadable(s, err == nil)
		shown.Sources = append(shown.Sources, shownSource{s, aai.AsError(err)})
		var view struct{ Events []shownEvent }
		if err != nil || decodeData(result, &view) != nil {
			continue
		}
		for _, e := range view.Events {
			e.Source = s.Name()
			shown.Events = append(shown.Events, e)
		}
	}
	slices.SortStableFunc(shown.Events, func(a, b shownEvent) int {
		return cmp.Or(b.At.Compare(a.At), cmp.Compare(b.Number, a.Number))
	})
	shown.Events = shown.Events[:min(len(shown.Events), maxShownEvents)]
	shown.Full = len(shown.Sources) >= maxSources
	shown.Others = v.otherSources(shown.Sources)
	go v.session.events.adjust(v.door)
	return shown, nil
}

// otherSources returns the running programs and the apps with events that are not chosen.
func (v *pageRequest) otherSources(chosen []shownSource) (others []source) {
	if v.door.programs != nil {
		for _, name := range v.door.programs.Names(v.ctx) {
			others = append(others, source{aai.DesktopApp, name})
		}
	}
	for _, app := range v.door.gateway.Catalog.Apps() {
		if app.ID != aai.BuiltinApp && app.Tool(aai.EventsTool) != nil && app.IsRunnable() {
			others = append(others, source{App: app.ID})
		}
	}
	slices.SortFunc(others, func(a, b source) int { return strings.Compare(a.Name(), b.Name()) })
	return slices.DeleteFunc(slices.Compact(others), func(s source) bool {
		return slices.ContainsFunc(chosen, func(c shownSource) bool { return c.source == s })
	})
}

// addSource shows the events of a source, after a question to the person if the page may not see it yet.
func addSource(v *pageRequest) (any, error) {
	s := source{v.form.Get("app"), v.form.Get("program")}
	if _, err := s.read(v); err != nil {
		return nil, err
	}
	if !v.session.events.add(s) {
		return nil, aai.Errorf(aai.InvalidParams, "at most %d programs and apps are shown; remove one first", maxSources)
	}
	return nil, nil
}

func removeSource(v *pageRequest) (any, error) {
	v.session.events.remove(source{v.form.Get("app"), v.form.Get("program")})
	return nil, nil
}

// followedSources are the sources that the person has chosen in a session. They are watched while a page of events is open.
type followedSources struct {
	mu       sync.Mutex
	all      []source
	faulty   map[source]bool // the page may not read them now
	pages    int             // that are open
	isQueued bool            // a reload is due

	watching sync.Mutex // held while stops changes; before mu
	stops    map[source]func()
}

func (f *followedSources) chosen() []source {
	f.mu.Lock()
	defer f.mu.Unlock()
	return slices.Clone(f.all)
}

// add adds a source, and reports false if there are enough.
func (f *followedSources) add(s source) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if slices.Contains(f.all, s) {
		return true
	}
	if len(f.all) >= maxSources {
		return false
	}
	f.all = append(f.all, s)
	return true
}

func (f *followedSources) remove(s source) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.all = slices.DeleteFunc(f.all, func(one source) bool { return one == s })
}

// setReadable notes whether a source could be read. A page that cannot be read is not watched: its own reloads could be
// events of the browser that shows it.
func (f *followedSources) setReadable(s source, readable bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.faulty == nil {
		f.faulty = map[source]bool{}
	}
	f.faulty[s] = !readable
}

// open watches the sources while a page is open, until end.
func (f *followedSources) open(d *Door) (end func()) {
	count := func(n int) {
		f.mu.Lock()
		f.pages += n
		f.mu.Unlock()
		go f.adjust(d)
	}
	count(1)
	return func() { count(-1) }
}

// adjust begins and ends to watch sources, so that the readable chosen ones are watched while a page is open.
func (f *followedSources) adjust(d *Door) {
	f.watching.Lock()
	defer f.watching.Unlock()
	f.mu.Lock()
	wanted := map[source]bool{}
	for _, s := range f.all {
		wanted[s] = f.pages > 0 && !f.faulty[s]
	}
	wanted[source{}] = f.pages > 0 && d.programs != nil // the list of programs
	f.mu.Unlock()
	for s, stop := range f.stops {
		if !wanted[s] {
			stop()
			delete(f.stops, s)
		}
	}
	changed := func() { f.changed(d) }
	for s := range wanted {
		if !wanted[s] || f.stops[s] != nil {
			continue
		}
		var stop func()
		if s == (source{}) {
			stop = d.programs.WatchNames(changed)
		} else {
			var err error
			if stop, err = s.watch(context.Background(), d, changed); err != nil {
				continue // the next reload tries again
			}
		}
		if f.stops == nil {
			f.stops = map[source]func(){}
		}
		f.stops[s] = stop
	}
}

// changed lets open pages reload soon.
func (f *followedSources) changed(d *Door) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.isQueued {
		return
	}
	f.isQueued = true
	time.AfterFunc(eventsPause, func() {
		f.mu.Lock()
		f.isQueued = false
		f.mu.Unlock()
		d.events.publish(EventPrograms)
	})
}
