package atspi

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/treecache"
	"github.com/gybob/aai-gateway/internal/process"
)

// appPatience is the time limit for an app's answers when apps are listed.
const appPatience = 300 * time.Millisecond

const (
	// busyPatience is the time limit for an app that is working. Time in which the app waits for a busy
	// processor does not count, up to starvedPatience in all.
	busyPatience    = 6 * appPatience
	starvedPatience = 4 * busyPatience
	// answerPatience is how long an answer of a sleeping app may be in transit.
	answerPatience = 30 * time.Millisecond
)

// Ready implements desktop.Tree. It starts nothing: a service that the first use would start counts as
// ready.
func (b *Bus) Ready(ctx context.Context) (desktop.Readiness, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	session, err := b.dialSession(ctx)
	if err != nil {
		return unready(err)
	}
	defer session.Close()
	running, err := hasOwner(ctx, session, launcherName)
	if err != nil {
		return desktop.Readiness{}, noBus("the session bus does not answer", err)
	}
	if !running {
		return startable(ctx, session)
	}
	on, _ := enabled(ctx, session)
	address, err := launcherAddress(ctx, session, wire.FlagNoAutoStart)
	if err != nil {
		return unready(err)
	}
	conn, err := dialBus(ctx, address, nil)
	if err != nil {
		return unready(noBus("the accessibility bus cannot be reached", err))
	}
	defer conn.Close()
	r := desktop.Readiness{Ready: true, Detail: "the accessibility bus answers"}
	if registry, err := hasOwner(ctx, conn, registryName); err == nil && registry {
		refs, err := b.registered(ctx, conn)
		if err != nil {
			return unready(noBus("the registry of the accessibility bus does not answer", err))
		}
		r.Detail += ", on it: " + aai.Count(len(refs), "program")
	}
	if !on {
		r.Detail += "; accessibility is switched off"
		r.Hint = "The gateway switches accessibility on at its first use. Programs of Qt and Chromium that run by then have to be started again."
	}
	return r, nil
}

// unready returns the reason why trees cannot be read. It returns an error only for an expired context.
func unready(err error) (desktop.Readiness, error) {
	e := aai.AsError(err)
	if e.Code == aai.Timeout {
		return desktop.Readiness{}, e
	}
	return desktop.Readiness{Detail: e.Message, Hint: e.Hint}, nil
}

// startable returns the readiness while the bus does not run: ready if the first use would start the bus.
func startable(ctx context.Context, session *wire.Conn) (desktop.Readiness, error) {
	answer, err := session.CallBus(ctx, "ListActivatableNames")
	if err != nil {
		return desktop.Readiness{}, noBus("the session bus does not answer", err)
	}
	found := false
	d := answer.Decoder()
	d.Array(4, func() { found = d.StringLike(launcherName) == launcherName || found })
	if found && d.Err() == nil {
		return desktop.Readiness{Ready: true, Detail: "the accessibility bus does not run yet; it is started at the first use",
			Hint: "Programs of Qt and Chromium that run by then have to be started again."}, nil
	}
	return unready(noBus("there is no accessibility bus", nil))
}

func hasOwner(ctx context.Context, conn *wire.Conn, name string) (bool, error) {
	answer, err := conn.CallBus(ctx, "NameHasOwner", name)
	if err != nil {
		return false, err
	}
	if answer.Kind == wire.KindError {
		return false, replyError(answer)
	}
	d := answer.Decoder()
	has := d.Bool()
	return has, d.Err()
}

// registered returns the roots of all programs on the bus.
func (b *Bus) registered(ctx context.Context, conn *wire.Conn) ([]ref, error) {
	answer, err := conn.Call(ctx, b.requests.children.to(ref{registryName, rootPath}))
	if err != nil {
		return nil, err
	}
	if answer.Kind == wire.KindError {
		return nil, replyError(answer)
	}
	if answer.Signature != b.requests.children.reply {
		return nil, errors.New("the registry answered with the type " + answer.Signature)
	}
	d := answer.Decoder()
	refs := readRefs(d, "")
	return refs, d.Err()
}

// Apps implements desktop.Tree. An app that does not answer delays the call by about 0.4 s if it sleeps. A
// busy app delays the call by up to 2 s, or more on a loaded computer. Calls within the next seconds wait
// 15 ms. The app is still listed, with its last known properties.
func (b *Bus) Apps(ctx context.Context) ([]desktop.App, error) {
	ctx, cancel := withDefaultTimeout(ctx)
	defer cancel()
	l, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := b.registered(ctx, l.conn)
	if err != nil {
		return nil, noBus("the registry of the accessibility bus does not answer", err)
	}
	entries := b.queryApps(ctx, l, refs)
	if err := ctx.Err(); err != nil {
		return nil, noBus("the time was up before the apps were listed", err)
	}
	var windows []desktop.WindowInfo
	if b.config.Windows != nil {
		// Without windows the list is incomplete but not wrong.
		if windows, err = b.config.Windows.Windows(ctx); err != nil {
			b.config.Log.Debug("the windows cannot be listed", "error", err)
		}
	}
	return list(entries, windows, b.processes.of), nil
}

// An appEntry holds a program's answers about itself.
type appEntry struct {
	root            ref
	pid             int
	answered        bool
	name, toolkit   string
	toolkitVersion  string
	windows         []ref
	count, contents int // numbers of windows and of their children

	heartbeat treecache.Heartbeat // of the process, after it answered; "" if it is not idle yet
}

// profile returns the profile without its probed part.
func (e *appEntry) profile() profile { return newProfile(e.toolkit, e.toolkitVersion, e.name, false) }

func (e *appEntry) readHeartbeat() treecache.Heartbeat {
	return readHeartbeat(e.pid, e.profile().IsBrowser)
}

// idlePatience is how long to wait for programs to become idle after they answered.
const idlePatience = 500 * time.Microsecond

// awaitIdle records the heartbeats of the programs that answered. A program without one is queried again in
// the next call.
func awaitIdle(asked []*appEntry) {
	for end := time.Now().Add(idlePatience); len(asked) > 0 && time.Now().Before(end); {
		asked = slices.DeleteFunc(asked, func(e *appEntry) bool {
			if e.answered && e.contents > 0 {
				e.heartbeat = e.readHeartbeat()
			}
			return !e.answered || e.contents == 0 || e.heartbeat != ""
		})
		time.Sleep(idlePatience / 10)
	}
}

// queryApps queries all programs at once: silent ones only briefly, and ones that were idle since the last
// query not at all.
func (b *Bus) queryApps(ctx context.Context, l *link, refs []ref) []*appEntry {
	now := time.Now()
	who, asleep := &batch{}, &batch{}
	var entries, asked, awake []*appEntry
	for _, r := range refs {
		if r.none() {
			continue
		}
		if e, still := l.records.unchanged(r); still {
			entries = append(entries, &e)
			continue
		}
		e := &appEntry{root: r}
		entries, asked = append(entries, e), append(asked, e)
		b.askProcess(who, e)
		if l.records.isSilent(r, now) {
			b.askIdentity(asleep, e)
		} else {
			awake = append(awake, e)
		}
	}
	l.settleSoon(ctx, who, starvedPatience) // answered by the bus itself
	l.askEach(ctx, awake, b.askIdentity)
	l.settleSoon(ctx, asleep, silentPatience)
	l.askEach(ctx, asked, b.count)
	awaitIdle(asked)
	if ctx.Err() == nil {
		l.records.update(entries, now)
	}
	return entries
}

// askEach queries all programs at once, with one batch each.
func (l *link) askEach(ctx context.Context, asked []*appEntry, ask func(*batch, *appEntry)) {
	var all sync.WaitGroup
	for _, e := range asked {
		r := &batch{}
		if ask(r, e); len(r.messages) > 0 {
			all.Go(func() { l.settleAwake(ctx, r, e.pid) })
		}
	}
	all.Wait()
}

// settleAwake is settleSoon with more time for a program that is working: it is only slow, as on a busy
// computer.
func (l *link) settleAwake(ctx context.Context, r *batch, pid int) {
	soon, cancel := context.WithTimeout(ctx, starvedPatience)
	defer cancel()
	go func() {
		begun, starved, rested := time.Now(), waitedToRun(pid), 0
		for wait := appPatience; aai.Sleep(soon, wait) == nil; wait = answerPatience {
			if pid != 0 && !stopped(pid) && !isAsleep(pid) {
				rested = 0
			} else if _, err := l.conn.CallBus(soon, "GetId"); err == nil { // the bus has no pending messages either
				rested++
			}
			if rested > 2 || time.Since(begun)-(waitedToRun(pid)-starved) > busyPatience {
				cancel()
			}
		}
	}()
	_ = r.dispatch(l.conn.Batch(soon, r.messages))
}

// settleSoon sends the batch and waits at most for patience. Missing answers are ignored.
func (l *link) settleSoon(ctx context.Context, r *batch, patience time.Duration) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = r.dispatch(l.conn.Batch(soon, r.messages))
}

// askProcess queries the bus for the program's process ID.
func (b *Bus) askProcess(r *batch, e *appEntry) {
	bus := ref{wire.BusName, wire.BusPath}
	name := wire.Encoder{}
	name.Str(e.root.sender)
	who := &request{iface: wire.BusInterface, member: "GetConnectionUnixProcessID", signature: "s", body: name.Bytes(), reply: "u"}
	r.add(who, bus, func(d *wire.Decoder) { e.pid = int(d.U32()) })
}

// askIdentity queries the app's own properties.
func (b *Bus) askIdentity(r *batch, e *appEntry) {
	r.add(b.requests.name, e.root, func(d *wire.Decoder) { e.name, e.answered = readText(d) })
	r.add(b.requests.toolkit, e.root, func(d *wire.Decoder) { e.toolkit, _ = readText(d) })
	r.add(b.requests.toolkitVersion, e.root, func(d *wire.Decoder) { e.toolkitVersion, _ = readText(d) })
	r.add(b.requests.children, e.root, func(d *wire.Decoder) {
		e.windows = readRefs(d, e.root.sender)
		e.count = len(e.windows)
		const enough = 20 // enough to see whether the windows have content
		e.windows = e.windows[:min(len(e.windows), enough)]
	})
}

// count queries the number of children in the app's windows.
func (b *Bus) count(r *batch, e *appEntry) {
	for _, w := range e.windows {
		r.add(b.requests.childCount, w, func(d *wire.Decoder) {
			if n, ok := readNumber(d); ok {
				e.contents += int(n)
			}
		})
	}
}

// list returns the list of apps: each process once, with its richest tree, and those that have only a
// window. It omits a process without an executable: that has ended and is a zombie, or cannot be
// identified.
func list(entries []*appEntry, windows []desktop.WindowInfo, of func(pid int) processInfo) []desktop.App {
	best := map[int]*appEntry{}
	for _, e := range entries {
		if other := best[e.pid]; e.pid > 0 && (other == nil || e.richer(other)) {
			best[e.pid] = e
		}
	}
	titles := map[int]string{}
	for _, w := range windows {
		if w.PID > 0 && titles[w.PID] == "" {
			titles[w.PID] = w.Title
		}
	}
	var apps []desktop.App
	for pid, e := range best {
		_, windowed := titles[pid]
		if e.count > 0 || !e.answered || windowed {
			if is := of(pid); is.id != "" {
				apps = append(apps, e.app(is, titles[pid]))
			}
		}
	}
	for pid, title := range titles {
		if is := of(pid); best[pid] == nil && is.id != "" {
			a := is.app(pid)
			a.HiddenReason, a.Key = absentReason(pid), fmt.Sprintf("window:%d", pid)
			a.Name = firstOf(title, a.ID)
			apps = append(apps, a)
		}
	}
	sort.Slice(apps, func(i, j int) bool {
		if a, b := strings.ToLower(apps[i].Name), strings.ToLower(apps[j].Name); a != b {
			return a < b
		}
		return apps[i].PID < apps[j].PID
	})
	return apps
}

// richer reports whether e has more content than other: more children in its windows, or as many and
// more windows. The richest tree of a process is probably the visible one.
func (e *appEntry) richer(other *appEntry) bool {
	if e.contents != other.contents {
		return e.contents > other.contents
	}
	return e.count > other.count
}

// app converts the process information to a desktop.App.
func (r processInfo) app(pid int) desktop.App {
	return desktop.App{PID: pid, ID: r.id, Executable: r.executable, ProgramIdentity: r.program, Started: r.started}
}

func (e *appEntry) app(of processInfo, title string) desktop.App {
	a := of.app(e.pid)
	a.Key = e.root.sender + e.root.path
	a.Name = firstOf(e.name, title, a.ID)
	a.Toolkit = toolkitLabel(e.toolkit, e.toolkitVersion)
	is := e.profile()
	a.Profile = is.Profile
	a.WorksCovered = a.WorksCovered || a.IsBrowser && worksCovered(process.Arguments(e.pid))
	switch {
	case !e.answered:
		a.HiddenReason = hiddenSilent
	case e.contents == 0 && is.needsFlag:
		a.HiddenReason = hiddenBare
	case e.contents == 0:
		a.HiddenReason = hiddenEmpty
	}
	return a
}

// toolkitLabel returns a toolkit's name in its usual spelling, with the version.
func toolkitLabel(name, version string) string {
	if name == "gtk" {
		name = "GTK"
	}
	return strings.TrimSpace(aai.CleanLabel(name, 40) + " " + aai.CleanLabel(version, 40))
}

func firstOf(names ...string) string {
	for _, name := range names {
		if name != "" {
			return name
		}
	}
	return ""
}
