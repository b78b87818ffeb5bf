package bench

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// fewListed is the number of apps with a separate entry each; for more apps the gateway lists only
// its search and the fixed tools.
const fewListed = 10

// listed returns the number of tools that the gateway lists for so many typical apps.
func listed(apps int) int {
	if apps > fewListed {
		return 1 + fixedTools
	}
	return apps + fixedTools
}

// search measures the cost of five hundred apps: the start compared with that of ten, and a search
// for one of their tools, including its journal line.
func (w *world) search(b *testing.B) {
	rounds := roundLimit(b, 40)
	ten, many := newHome(b, 10), newHome(b, 500)
	var few, all samples
	for range rounds {
		few.add(w.started(b, ten, w.gateway, listed(10)))
		all.add(w.started(b, many, w.gateway, listed(500)))
	}
	share := float64(all.median()) / float64(few.median())
	w.table.judge("start to tools/list, 500 descriptors", millis(all.median()), "10 descriptors "+millis(few.median()), fmt.Sprintf("%.2f times", share),
		"≤ 1.2 times", share <= 1.2)
	many.allow(b)
	gateway := open(b, many.env(w.bus.Address), w.gateway, listed(500))
	begun := time.Now()
	gateway.search(b, "save a file")
	first := time.Since(begun)
	var took, door samples
	for i := range roundLimit(b, 400) {
		words := []string{"save a file", "search for items", "export the report", "send somebody a message", "open this", "打开文件", "Datei speichern"}[i%7]
		took.add(elapsed(func() { gateway.search(b, words) }))
		door.add(elapsed(func() { gateway.search(b, "qqzzxx") })) // without a match: the remaining time is the round trip
	}
	w.table.add("first aai_search, 500 descriptors", millis(first), "", "")
	w.table.judge("aai_search, 500 descriptors, p50", millis(took.median()), "the door "+millis(door.median())+"; p95 "+millis(took.quantile(0.95)),
		more(took.median()-door.median()), "≤ +2 ms", took.median()-door.median() <= 2*time.Millisecond)
	b.ReportMetric(float64(took.median())/1e6, "ms/search")
}

// search searches for tools, and fails if none is found.
func (s *session) search(b *testing.B, words string) {
	b.Helper()
	asked, err := json.Marshal(map[string]any{"name": "aai_search", "arguments": map[string]any{"words": words}})
	assert.NilError(b, err)
	a := s.ask(b, "tools/call", string(asked))
	assert.Assert(b, !a.Result.IsError, "%s %+v", words, a)
}

// discover measures a scan for integrations on a computer with programs of all toolkits, from the
// start of the program to its end, and the same with two of them stopped. The baseline is busctl's
// time for the objects of the same services.
func (w *desktopBench) discover(b *testing.B) {
	s := linuxtest.StartAccessible(b)
	for _, kind := range linuxtest.Kinds() {
		s.Fixture(b, kind)
	}
	s.Launch(b, "gnome-text-editor")
	s.Launch(b, "mpv", "--no-config", "--idle=yes", "--vo=null", "--ao=null", "--script=/usr/lib/mpv-mpris/mpris.so")
	stopped := []*linuxtest.App{s.Launch(b, "mousepad"), s.Launch(b, "kate")}
	names := []string{"org.xfce.mousepad", "org.kde.kate", "org.gnome.TextEditor", "org.mpris.MediaPlayer2.mpv"}
	env := append(slices.Clone(s.Env), "HOME="+newHome(b, 20).folder, "DBUS_SESSION_BUS_ADDRESS="+s.Address)
	ctx, cancel := context.WithTimeout(b.Context(), 2*time.Minute)
	defer cancel()
	for !slices.Equal(found(b, w.look(b, env), names), names) {
		if aai.Sleep(ctx, 200*time.Millisecond) != nil {
			b.Fatalf("the programs did not all come: %q", found(b, w.look(b, env), names))
		}
	}
	var ours, theirs, frozen samples
	for range roundLimit(b, 20) {
		ours.add(elapsed(func() { w.look(b, env) }))
		theirs.add(elapsed(func() { output(b, env, "busctl", "--address="+s.Address, "--no-pager", "tree") }))
	}
	for _, app := range stopped {
		app.Suspend(b)
	}
	for range roundLimit(b, 5) {
		frozen.add(elapsed(func() { w.look(b, env) }))
	}
	for _, app := range stopped {
		app.Continue(b)
	}
	worst := func(s samples) time.Duration { return s.quantile(1) }
	w.table.judge("the ways into the apps of a full desktop, the slowest of all looks", millis(worst(ours)), "busctl tree "+millis(theirs.median()), times(ratio(ours.median(), theirs.median())),
		"≤ 1500 ms", worst(ours) <= 1500*time.Millisecond)
	w.table.judge("the same with two programs stopped", millis(worst(frozen)), "", "", "≤ 5000 ms", worst(frozen) <= 5*time.Second)
	b.ReportMetric(float64(worst(ours).Milliseconds()), "worst-ms")
	b.ReportMetric(float64(worst(frozen).Milliseconds()), "stopped-ms")
}

// look returns the output of discover.
func (w *desktopBench) look(b *testing.B, env []string) string {
	b.Helper()
	return output(b, env, w.program, "discover", "--format", "json")
}

// found returns the names that begin the name of a running app among the integrations.
func found(b *testing.B, printed string, names []string) []string {
	b.Helper()
	var report struct{ Ways []struct{ App, State string } }
	assert.NilError(b, json.Unmarshal([]byte(printed), &report), printed)
	var all []string
	for _, name := range names {
		for _, way := range report.Ways {
			if way.State == "running" && strings.HasPrefix(way.App, name) {
				all = append(all, name)
				break
			}
		}
	}
	return all
}

func output(b *testing.B, env []string, name string, args ...string) string {
	b.Helper()
	c := exec.CommandContext(b.Context(), name, args...)
	c.Env = env
	out, err := c.Output()
	assert.NilError(b, err, name)
	return string(out)
}

// size measures the program's size on disk, and its memory when it has listed its tools and is
// idle.
func (w *world) size(b *testing.B) {
	program, floor := fileSize(b, w.gateway), fileSize(b, w.bare)
	w.table.judge("stripped binary", megabytes(program), "bare SDK "+megabytes(floor), megabytes(program-floor)+" more",
		"≤ 38 MB", program <= 38e6)
	bare := w.resident(b, w.bare, 0, 1)
	memory := w.resident(b, w.gateway, 10, listed(10))
	w.table.judge("idle memory (VmRSS), 10 descriptors", megabytes(memory), "bare SDK "+megabytes(bare), megabytes(memory-bare)+" more",
		"≤ 26 MB", memory <= 26e6)
	for _, n := range []int{100, 1000} {
		many := w.resident(b, w.gateway, n, listed(n))
		figure, compared := fmt.Sprintf("idle memory (VmRSS), %d descriptors", n), megabytes(many-memory)+" more"
		w.table.judge(figure, megabytes(many), "10 descriptors "+megabytes(memory), compared, "≤ 38 MB", many <= 38e6)
	}
	b.ReportMetric(float64(program), "bytes")
	b.ReportMetric(float64(memory), "B-resident")
}

func fileSize(b *testing.B, name string) int64 {
	b.Helper()
	info, err := os.Stat(name)
	assert.NilError(b, err)
	return info.Size()
}

// resident returns the median memory of five processes, each after its tool list, when it has used no
// processor time for a second.
func (w *world) resident(b *testing.B, program string, descriptors, tools int) int64 {
	b.Helper()
	h := newHome(b, descriptors)
	var sizes samples // of bytes
	for range roundLimit(b, 5) {
		s := startServer(b, h.env(w.bus.Address), program)
		s.handshake(b, tools)
		for used := time.Duration(-1); used != processorTime(b, s.pid()); time.Sleep(time.Second) {
			used = processorTime(b, s.pid())
		}
		sizes.add(time.Duration(vmRSS(b, s.pid())))
		s.end(b)
	}
	return int64(sizes.median())
}

// vmRSS returns the resident set of a process in bytes; see proc_pid_status(5).
func vmRSS(b *testing.B, pid int) int64 {
	b.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	assert.NilError(b, err)
	_, rest, _ := strings.Cut(string(status), "VmRSS:")
	var kilobytes int64
	_, err = fmt.Sscanf(rest, "%d kB", &kilobytes)
	assert.NilError(b, err)
	return kilobytes << 10
}

// processorTime returns the processor time of a process, user and system; see proc_pid_stat(5). A
// tick is 10 ms on every Linux that Go runs on.
func processorTime(b *testing.B, pid int) time.Duration {
	b.Helper()
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	assert.NilError(b, err)
	const tick = 10 * time.Millisecond
	_, rest, _ := strings.Cut(string(stat), ") ") // the name may contain blanks
	fields := strings.Fields(rest)
	assert.Assert(b, len(fields) >= 13, "/proc/%d/stat: %s", pid, stat)
	user, err1 := strconv.Atoi(fields[11])
	system, err2 := strconv.Atoi(fields[12])
	assert.NilError(b, errors.Join(err1, err2))
	return time.Duration(user+system) * tick
}
