package bench

import (
	"context"
	"encoding/json"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
	b.ReportMetric(0, "ns/op")
}

func elapsed(do func()) time.Duration {
	begun := time.Now()
	do()
	return time.Since(begun)
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
