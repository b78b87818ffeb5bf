package policy

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

func TestModes(t *testing.T) {
	script := func() *aai.Request {
		r := operating(program("editor", "e"), "click")
		r.Tool = &aai.Tool{Name: "ax_run_script", Assess: aai.Always(aai.Assessment{Kind: aai.KindScript}), Target: "app"}
		return r
	}
	connect := func(pid int) *aai.Request {
		r := operating(program("editor", "e"), "scroll")
		r.Tool = &aai.Tool{Name: "ax_connect", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true, MayStartProgram: true}), Target: "app"}
		r.Call.Target.PID = pid
		return r
	}
	natural := func(r *aai.Request) *aai.Request {
		tool := *r.Tool
		tool.Assess = aai.Always(aai.Assessment{EffectInherent: true})
		r.Tool = &tool
		return r
	}
	for name, c := range map[string]struct {
		r                       *aai.Request
		normal, safe, sandboxed string
	}{
		"reads":              {natural(asking(notesApp("d"), "list")), "admits", "admits", "admits"},
		"is said to read":    {asking(notesApp("d"), "list"), "admits", "admits", "PERMISSION_DENIED"},
		"changes":            {asking(notesApp("d"), "add"), "admits", "admits", "PERMISSION_DENIED"},
		"destroys":           {asking(notesApp("d"), "wipe"), "admits", "admits", "PERMISSION_DENIED"},
		"looks at a window":  {operating(program("editor", "e"), "look"), "admits", "admits", "admits"},
		"clicks":             {operating(program("editor", "e"), "click"), "admits", "admits", "PERMISSION_DENIED"},
		"a caller's script":  {script(), "admits", "PERMISSION_DENIED", "PERMISSION_DENIED"},
		"names what runs":    {connect(7), "admits", "admits", "admits"},
		"starts a program":   {connect(0), "admits", "admits", "PERMISSION_DENIED"},
		"the gateway itself": {ownRequest(aai.DoorCLI, "mode_set", aai.Changes), "admits", "admits", "admits"},
	} {
		t.Run(name, func(t *testing.T) {
			for mode, want := range map[Mode]string{Normal: c.normal, Safe: c.safe, Sandboxed: c.sandboxed} {
				assert.Check(t, is.Equal(check(&ModeGate{Configured: mode}, c.r), want), mode)
			}
		})
	}
}

// TestTheFileOfTheMode checks that the stricter mode applies, that an unreadable file is
// the strictest, and that running gateways apply a change at the next call.
func TestTheFileOfTheMode(t *testing.T) {
	path := filepath.Join(t.TempDir(), "aai", "mode")
	free, strict := &ModeGate{Path: path}, &ModeGate{Configured: Safe, Path: path}
	expect := func(what string, f, s Mode) {
		t.Helper()
		assert.Check(t, is.Equal(free.Current(), f), what)
		assert.Check(t, is.Equal(strict.Current(), s), what)
	}
	expect("no file", Normal, Safe)
	for mode, want := range map[Mode]Mode{Normal: Safe, Safe: Safe, Sandboxed: Sandboxed} {
		assert.NilError(t, SetMode(path, mode))
		expect("the file says "+mode.String(), mode, want)
	}
	for _, damaged := range []string{"", "\n", "normal safe", "NORMAL", "\x00"} {
		write(t, path, damaged)
		expect("the file is damaged", Sandboxed, Sandboxed)
	}
	assert.NilError(t, os.Remove(path))
	assert.NilError(t, os.Mkdir(path, 0o700))
	expect("it is a folder", Sandboxed, Sandboxed)
	assert.Check(t, SetMode(path, Normal) != nil, "a mode was kept in a folder")
	var none *ModeGate
	assert.Check(t, is.Equal(none.Current(), Normal), "no gate of modes is one")
}

func TestParseMode(t *testing.T) {
	for _, m := range []Mode{Normal, Safe, Sandboxed} {
		got, err := ParseMode(m.String())
		assert.Check(t, is.Equal(got, m))
		assert.Check(t, err)
	}
	got, err := ParseMode("loose")
	assert.Assert(t, err != nil, err)
	assert.Equal(t, got, Sandboxed, err)
	assert.Check(t, is.Equal(Mode(-3).String(), "sandboxed"), "a mode that nobody knows is said to be free")
}

// TestSafeAsksEachTime checks that mode safe asks for each irreversible call, whatever was
// granted, and offers no lasting grant.
func TestSafeAsksEachTime(t *testing.T) {
	d := newDesk(Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow})
	d.mode = &ModeGate{Configured: Safe}
	for range 2 {
		d.admits(t, asking(notesApp("d1"), "list"))
		q := d.question(t, asking(notesApp("d1"), "wipe"))
		assert.Assert(t, is.Len(q.Choices, 2))
		assert.Assert(t, q.AlwaysAsk, "it offers %+v", q.Choices)
		d.refuses(t, answered(asking(notesApp("d1"), "wipe"), q, choiceAlways), aai.PermissionDenied)
		d.admits(t, d.choose(t, notesApp("d1"), "wipe", choiceOnce))
	}
	assert.Check(t, is.Len(d.kept.grants, 0))
	// A refusal for good still refuses.
	d.kept.grants = []Grant{{Caller: "mcp:claude-ai", App: notes, Tool: "wipe", Decision: Deny}}
	d.refuses(t, asking(notesApp("d1"), "wipe"), aai.ConsentRequired)
}

// TestListedIsAdmitted checks for each mode, app and kind of tool that the list has the tool exactly if the mode
// does not refuse its call.
func TestListedIsAdmitted(t *testing.T) {
	for _, id := range []string{aai.BuiltinApp, aai.DesktopApp, "org.example.App"} {
		for bits := range 1 << 4 {
			for _, effect := range []aai.Effect{aai.Reads, aai.Changes, aai.Destroys} {
				a := aai.Assessment{EffectInherent: bits&1 != 0, OnlyMakesCalls: bits&2 != 0, RunsScript: bits&4 != 0}
				if bits&8 != 0 {
					a.Kind = aai.KindScript
				}
				tool := &aai.Tool{Name: "t", Effect: effect, Assess: aai.Always(a)}
				app := &aai.App{ID: id, Tools: []*aai.Tool{tool}}
				for _, mode := range []Mode{Normal, Safe, Sandboxed} {
					gate := &ModeGate{Configured: mode}
					listed := len((&VisibleCatalog{Catalog: shelfOf(app), Modes: gate}).Apps()[0].Tools) == 1
					_, err := gate.Check(t.Context(), &aai.Request{Call: &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP}}, App: app, Tool: tool})
					assert.Check(t, is.Equal(listed, (err == nil)), "%s: %+v of %s is listed: %v; its call: %v", mode, tool, id, listed, err)
				}
			}
		}
	}
}
