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

	"aai"
	"aai/internal/dbuswire"
	"aai/internal/desktop"
	"aai/internal/desktop/mirror"
	"aai/internal/process"
)

// appPatience is how long an app may take to say what it is when apps are listed.
const appPatience = 300 * time.Millisecond

const (
	// busyPatience is how long one may take that is at work. What it waits for a processor
	// that others have does not count, up to starvedPatience in all.
	busyPatience    = 6 * appPatience
	starvedPatience = 4 * busyPatience
	// answerPatience is how long an answer may be on its way of one that sleeps.
	answerPatience = 30 * time.Millisecond
)

// Why an app's tree is not there, and what a person can do about it.
const (
	hiddenSilent = "It does not answer. It may be busy or hang."
	hiddenEmpty  = "Its windows have nothing in them that assistive technology could see. It may still be starting; otherwise look at a picture of it."
	hiddenBare   = "It was started without accessibility, so its windows look empty. Close it and start it again with --force-renderer-accessibility " + desktop.ChromiumWorksCovered + "."
	hiddenAbsent = "It shows no tree of its elements. A program of Qt or Chromium that was started before accessibility was switched on has to be started again " +
		"(Chromium and Electron with --force-renderer-accessibility); one of GTK 2 has to be started by the gateway, or with GTK_MODULES=gail:atk-bridge, where libatk-adaptor is installed; others, such as terminals of X, never show one: look at a picture of the window."
)

// Ready implements desktop.Tree. It starts nothing: what is started at the first
// use counts as ready.
func (b *Bus) Ready(ctx context.Context) (desktop.Readiness, error) {
	ctx, cancel := limited(ctx)
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
	address, err := launcherAddress(ctx, session, dbuswire.FlagNoAutoStart)
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
		r.Detail += fmt.Sprintf(", %d programs are on it", len(refs))
	}
	if !on {
		r.Detail += "; accessibility is switched off"
		r.Hint = "The gateway switches accessibility on at its first use. Programs of Qt and Chromium that run by then have to be started again."
	}
	return r, nil
}

// unready says why trees cannot be read. Only an end of the time is an error.
func unready(err error) (desktop.Readiness, error) {
	e := aai.AsError(err)
	if e.Code == aai.Timeout {
		return desktop.Readiness{}, e
	}
	return desktop.Readiness{Detail: e.Message, Hint: e.Hint}, nil
}

// startable says whether the bus would be started at the first use.
func startable(ctx context.Context, session *dbuswire.Conn) (desktop.Readiness, error) {
	answer, err := session.Ask(ctx, "ListActivatableNames")
	if err != nil {
		return desktop.Readiness{}, noBus("the session bus does not answer", err)
	}
	found := false
	d := answer.Decoder()
	d.Array(4, func() { found = d.StrLike(launcherName) == launcherName || found })
	if found && d.Err() == nil {
		return desktop.Readiness{Ready: true, Detail: "the accessibility bus does not run yet; it is started at the first use",
			Hint: "Programs of Qt and Chromium that run by then have to be started again."}, nil
	}
	return unready(noBus("there is no accessibility bus", nil))
}

func hasOwner(ctx context.Context, conn *dbuswire.Conn, name string) (bool, error) {
	answer, err := conn.Ask(ctx, "NameHasOwner", name)
	if err != nil {
		return false, err
	}
	if answer.Kind == dbuswire.KindError {
		return false, replyError(answer)
	}
	d := answer.Decoder()
	has := d.Bool()
	return has, d.Err()
}

// registered lists the roots of all programs on the bus.
func (b *Bus) registered(ctx context.Context, conn *dbuswire.Conn) ([]ref, error) {
	answer, err := conn.Call(ctx, b.ask.children.to(ref{registryName, rootPath}))
	if err != nil {
		return nil, err
	}
	if answer.Kind == dbuswire.KindError {
		return nil, replyError(answer)
	}
	if answer.Signature != b.ask.children.reply {
		return nil, errors.New("the registry answered with the type " + answer.Signature)
	}
	d := answer.Decoder()
	refs := readRefs(d, "")
	return refs, d.Err()
}

// Apps implements desktop.Tree. An app that does not answer makes it take a third
// of a second, and while it goes on like that a few milliseconds; it is listed all
// the same, as what it last said it was.
func (b *Bus) Apps(ctx context.Context) ([]desktop.App, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	l, err := b.connect(ctx)
	if err != nil {
		return nil, err
	}
	refs, err := b.registered(ctx, l.conn)
	if err != nil {
		return nil, noBus("the registry of the accessibility bus does not answer", err)
	}
	entries := b.interview(ctx, l, refs)
	if err := ctx.Err(); err != nil {
		return nil, noBus("the time was up before the apps were listed", err)
	}
	var windows []desktop.WindowInfo
	if b.config.Windows != nil {
		// Without them the list is shorter and not wrong.
		if windows, err = b.config.Windows.Windows(ctx); err != nil {
			b.config.Log.Debug("the windows cannot be listed", "error", err)
		}
	}
	return list(entries, windows, b.runners.of), nil
}

// An entry is what a program says of itself.
type entry struct {
	root            ref
	pid             int
	answered        bool
	name, toolkit   string
	toolkitVersion  string
	windows         []ref
	count, contents int // of windows, and of what is directly in them

	beat mirror.Pulse // of the process, after it answered; "" if it has not come to rest
}

func (e *entry) pulse() mirror.Pulse { return takePulse(e.pid, browser(e.toolkit)) }

// restPatience is how long programs may take to come to rest after they answered.
const restPatience = 500 * time.Microsecond

// awaitRest takes the pulses of those that answered. Who has none is asked again
// the next time.
func awaitRest(asked []*entry) {
	for end := time.Now().Add(restPatience); len(asked) > 0 && time.Now().Before(end); {
		asked = slices.DeleteFunc(asked, func(e *entry) bool {
			if e.answered && e.contents > 0 {
				e.beat = e.pulse()
			}
			return !e.answered || e.contents == 0 || e.beat != ""
		})
		time.Sleep(restPatience / 10)
	}
}

// interview asks all programs at once, those that do not answer in vain, and those
// that have done nothing since they were asked not at all.
func (b *Bus) interview(ctx context.Context, l *link, refs []ref) []*entry {
	now := time.Now()
	who, asleep := &round{}, &round{}
	var entries, asked, awake []*entry
	for _, r := range refs {
		if r.none() {
			continue
		}
		if e, still := l.roll.still(r); still {
			entries = append(entries, &e)
			continue
		}
		e := &entry{root: r}
		entries, asked = append(entries, e), append(asked, e)
		b.askProcess(who, e)
		if l.roll.asleep(r, now) {
			b.introduce(asleep, e)
		} else {
			awake = append(awake, e)
		}
	}
	l.settleSoon(ctx, who, starvedPatience) // the bus itself
	l.hear(ctx, awake, b.introduce)
	l.settleSoon(ctx, asleep, silentPatience)
	l.hear(ctx, asked, b.count)
	awaitRest(asked)
	if ctx.Err() == nil {
		l.roll.call(entries, now)
	}
	return entries
}

// hear asks all at once, each a question of its own.
func (l *link) hear(ctx context.Context, asked []*entry, ask func(*round, *entry)) {
	var all sync.WaitGroup
	for _, e := range asked {
		r := &round{}
		if ask(r, e); len(r.messages) > 0 {
			all.Go(func() { l.settleAwake(ctx, r, e.pid) })
		}
	}
	all.Wait()
}

// settleAwake is settleSoon that waits longer for a program that is at work: it is only slow,
// as each is on a busy computer.
func (l *link) settleAwake(ctx context.Context, r *round, pid int) {
	soon, cancel := context.WithTimeout(ctx, starvedPatience)
	defer cancel()
	go func() {
		begun, starved, rested := time.Now(), waitedToRun(pid), 0
		for wait := appPatience; aai.Pause(soon, wait) == nil; wait = answerPatience {
			if pid != 0 && !stopped(pid) && !sleeps(pid) {
				rested = 0
			} else if _, err := l.conn.Ask(soon, "GetId"); err == nil { // nor is anything left with the bus
				rested++
			}
			if rested > 2 || time.Since(begun)-(waitedToRun(pid)-starved) > busyPatience {
				cancel()
			}
		}
	}()
	_ = r.settle(l.conn.Batch(soon, r.messages))
}

// settleSoon asks, and waits so long at most. Who does not answer by then has said
// nothing.
func (l *link) settleSoon(ctx context.Context, r *round, patience time.Duration) {
	soon, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	_ = r.settle(l.conn.Batch(soon, r.messages))
}

// askProcess asks the bus which process it is.
func (b *Bus) askProcess(r *round, e *entry) {
	bus := ref{dbuswire.BusName, dbuswire.BusPath}
	name := dbuswire.Encoder{}
	name.Str(e.root.sender)
	who := &question{iface: dbuswire.BusInterface, member: "GetConnectionUnixProcessID", signature: "s", body: name.Bytes(), reply: "u"}
	r.put(who, bus, func(d *dbuswire.Decoder) { e.pid = int(d.U32()) })
}

// introduce asks the app what it is.
func (b *Bus) introduce(r *round, e *entry) {
	r.put(b.ask.name, e.root, func(d *dbuswire.Decoder) { e.name, e.answered = readText(d) })
	r.put(b.ask.toolkit, e.root, func(d *dbuswire.Decoder) { e.toolkit, _ = readText(d) })
	r.put(b.ask.toolkitVersion, e.root, func(d *dbuswire.Decoder) { e.toolkitVersion, _ = readText(d) })
	r.put(b.ask.children, e.root, func(d *dbuswire.Decoder) {
		e.windows = readRefs(d, e.root.sender)
		e.count = len(e.windows)
		const enough = 20 // to see whether there is anything in them
		e.windows = e.windows[:min(len(e.windows), enough)]
	})
}

// count asks how much is in the app's windows.
func (b *Bus) count(r *round, e *entry) {
	for _, w := range e.windows {
		r.put(b.ask.childCount, w, func(d *dbuswire.Decoder) {
			if n, ok := readNumber(d); ok {
				e.contents += int(n)
			}
		})
	}
}

// list makes the list: each process once, with the richest of its trees, and those
// that have only a window. One without an executable is left out: it has ended and
// waits for its parent to notice, or is nobody's that could be named.
func list(entries []*entry, windows []desktop.WindowInfo, of func(pid int) runner) []desktop.App {
	best := map[int]*entry{}
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
			a.Hidden, a.Key = hiddenAbsent, fmt.Sprintf("window:%d", pid)
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

// richer says which of a process's trees is the one that people see.
func (e *entry) richer(other *entry) bool {
	if e.contents != other.contents {
		return e.contents > other.contents
	}
	return e.count > other.count
}

// app is what is known of the program, in the words of the desktop.
func (r runner) app(pid int) desktop.App {
	return desktop.App{PID: pid, ID: r.id, Executable: r.executable, Program: r.program, Started: r.started}
}

func (e *entry) app(is runner, title string) desktop.App {
	a := is.app(e.pid)
	a.Key = e.root.sender + e.root.path
	a.Name = firstOf(e.name, title, a.ID)
	a.Toolkit = toolkitLabel(e.toolkit, e.toolkitVersion)
	a.Browser = browser(e.toolkit)
	a.FocusInFront = e.toolkit == gecko
	a.Obeys = strings.HasPrefix(a.Toolkit, "GTK") || strings.HasPrefix(a.Toolkit, "Qt") ||
		a.Browser && worksCovered(process.Arguments(e.pid))
	switch {
	case !e.answered:
		a.Hidden = hiddenSilent
	case e.contents == 0 && e.toolkit == chromium:
		a.Hidden = hiddenBare
	case e.contents == 0:
		a.Hidden = hiddenEmpty
	}
	return a
}

// toolkitLabel writes a toolkit's name as people do.
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
