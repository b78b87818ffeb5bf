package bench

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// agentPause is the pause between two calls of a very quick agent.
const agentPause = 500 * time.Millisecond

// trees measures calls of ax_get_tree, up to their results: without changes, and after each of
// some external changes. pyatspi reads the same trees alternately. All the apps run at once, as on
// a user's desktop.
func (w *desktopBench) trees(b *testing.B) {
	rounds := roundLimit(b, 20)
	walks := min(rounds, 3)
	apps := realApps()
	var ids []string
	for _, app := range apps {
		ids = append(ids, app.id)
	}
	s := w.newScene(b, ids...)
	page := serveWebPage(b)
	bus := newStranger(b, s.Session)
	walker, noWalker := newWalker(b, s.Session)
	for _, app := range apps {
		pid := s.run(b, app, page.address)
		r := treeRounds{scene: s, app: app, call: toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(pid)}),
			other: stranger{bus, s.appOf(b, bus, pid)}}
		nodes := len(r.other.snapshot(b).Elements)
		for n := range rounds {
			r.round(b, n)
			if noWalker == nil && n%(rounds/walks) == 0 && len(w.walks[app.key]) < walks {
				var told walkAnswer
				if noWalker = walker.ask(pid, &told); noWalker == nil {
					w.keepWalk(app.key, told)
				}
			}
		}
		figure := fmt.Sprintf("ax_get_tree over stdio, %s, %d elements", app.name, nodes)
		w.table.add(figure+", after a change", medianAndP95(r.changed), "nothing happened for 250 ms "+medianAndP95(r.warm), fmt.Sprintf("%d tokens", r.tokens))
		b.ReportMetric(float64(r.changed.median())/1e6, "ms/"+app.key)
	}
	if noWalker != nil {
		w.table.add("pyatspi", "", "did not run: "+firstLine(noWalker), "")
	}
	w.backgroundWork(b, s)
	w.idle(b, s, "5 apps", watchDuration(10*time.Second, time.Second))
	b.ReportMetric(0, "ns/op")
}

// reconfirmPause is longer than the background rereading of the cache: its pauses, which are in
// internal/desktop/treecache, and the reads themselves.
const reconfirmPause = 6 * time.Second

// backgroundWork returns the processor time that the last call causes after its result: confirming
// the read data.
func (w *desktopBench) backgroundWork(b *testing.B, s *scene) {
	b.Helper()
	before := processorTime(b, s.gateway.process.Process.Pid)
	time.Sleep(reconfirmPause)
	w.table.add("to confirm what the last call read, processor time, once", millis(processorTime(b, s.gateway.process.Process.Pid)-before), "", "")
}

// keepWalk stores pyatspi's time.
func (w *desktopBench) keepWalk(key string, told walkAnswer) {
	walks := w.walks[key]
	walks.add(milliseconds(told.Ms))
	w.walks[key] = walks
}

// run starts the app and returns its process when its tree is ready.
func (s *scene) run(b *testing.B, app realApp, page string) int {
	b.Helper()
	pid := app.start(b, s.Session, page).PID
	pid = s.processOf(b, app.id, pid)
	s.await(b, pid, app.query)
	time.Sleep(2 * time.Second) // many apps continue to draw for a while
	return pid
}

// processOf returns the process of the app with the id: it may be a child of the started one.
func (s *scene) processOf(b *testing.B, id string, started int) int {
	b.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var listed struct {
			Apps []struct {
				PID int
				ID  string `json:"bundle_id"`
			}
		}
		s.gateway.ask(b, "tools/call", toolCall(b, "ax_list_apps", map[string]any{})).data(b, &listed)
		for _, app := range listed.Apps {
			if app.PID == started || app.ID == id {
				return app.PID
			}
		}
	}
	b.Fatalf("%s (process %d) shows no tree", id, started)
	return 0
}

// appOf returns the app with the process, as the other program sees it.
func (s *scene) appOf(b *testing.B, bus desktop.Tree, pid int) desktop.App {
	b.Helper()
	apps, err := bus.Apps(b.Context())
	assert.NilError(b, err)
	for _, app := range apps {
		if app.PID == pid {
			return app
		}
	}
	b.Fatalf("process %d is not on the accessibility bus", pid)
	return desktop.App{}
}

// treeRounds are the reads of one app.
type treeRounds struct {
	scene         *scene
	app           realApp
	call          string
	other         stranger
	warm, changed samples
	tokens        int
}

// round reads the app after a change, and again without changes after an agent's minimum pause.
func (r *treeRounds) round(b *testing.B, n int) {
	b.Helper()
	role, name, act := r.app.change(n)
	r.other.change(b, role, name, act)
	begun := time.Now()
	a := r.scene.gateway.ask(b, "tools/call", r.call)
	r.changed.add(time.Since(begun))
	time.Sleep(agentPause)
	r.warm.add(r.scene.gateway.timed(b, r.call))
	r.tokens = tokencount.Count(b, a.text(b))
}

// idle measures the processor time of an idle gateway that listens to programs.
func (w *desktopBench) idle(b *testing.B, s *scene, watching string, long time.Duration, beside ...*linuxtest.App) {
	b.Helper()
	pid := s.gateway.process.Process.Pid
	before, others := processorTime(b, pid), make([]time.Duration, len(beside))
	for i, app := range beside {
		others[i] = processorTime(b, app.PID)
	}
	time.Sleep(long)
	share := 100 * ratio(processorTime(b, pid)-before, long)
	text := ""
	for i, app := range beside {
		text = fmt.Sprintf("the app itself %.2f %%", 100*ratio(processorTime(b, app.PID)-others[i], long))
	}
	w.table.judge(fmt.Sprintf("idle gateway that listens to %s, processor over %s", watching, long), fmt.Sprintf("%.2f %%", share), text, "",
		"≤ 1 %", share <= 1)
	memory := vmRSS(b, pid)
	w.table.add("the same gateway's memory (VmRSS)", megabytes(memory), "", "")
}
