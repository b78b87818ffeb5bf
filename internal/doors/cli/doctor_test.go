package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// A fakeDoctor is a doctor with the findings of the test.
type fakeDoctor struct {
	findings      []answer.Finding
	skipped       []string
	mended        []string
	bundlePath    string
	asks          func(context.Context) bool // whether a window may come up
	windowAnswers []bool
}

func (p *fakeDoctor) Checks() []string {
	var names []string
	for _, f := range p.findings {
		names = append(names, f.Check)
	}
	return names
}

func (p *fakeDoctor) Examine(ctx context.Context, skip []string, tell func(answer.Finding, []string)) {
	p.skipped = skip
	if p.asks != nil {
		p.windowAnswers = append(p.windowAnswers, p.asks(ctx))
	}
	for _, f := range p.findings {
		tell(f, nil)
	}
}

func (p *fakeDoctor) Fix(_ context.Context, check string) error {
	if check == "screen" {
		return errors.New("nobody is there")
	}
	p.mended = append(p.mended, check)
	return nil
}

func (p *fakeDoctor) Bundle(file string) ([]string, error) {
	p.bundlePath = file
	return []string{"report.json  what this command found"}, nil
}

func okFinding() []answer.Finding {
	return []answer.Finding{
		{Check: "settings", Title: "configuration", State: "ok", Did: "read ~/.aai/config.json", Saw: "it is right", TookMS: 2},
		{Check: "window", Title: "a window", State: "ok", Did: "opened one", Saw: "zenity printed what was typed", TookMS: 870},
	}
}

func brokenFinding() []answer.Finding {
	return append(okFinding(),
		answer.Finding{Check: "home", Title: "home folder", State: "broken", Did: "wrote a file", Saw: "the disk is full: 0 MB are free, the gateway needs 16",
			Details: []string{"~/.cache/aai-gateway takes 32 MB, and can be deleted"}, Advice: "Make room; what is named here can be had again:",
			Commands: []string{"rm -rf /home/ann/.cache/aai-gateway"}, Fixes: "empty ~/.cache/aai-gateway", TookMS: 10},
		answer.Finding{Check: "screen", Title: "screen", State: "broken", Did: "looked", Saw: "there is none", Fixes: "tell the user manager"},
		answer.Finding{Check: "gateways", Title: "other gateways", State: "note", Did: "looked", Saw: "1 other gateway", Commands: []string{"kill 7"}},
		answer.Finding{Check: "client", Title: "a client's start", State: "skipped", Did: "nothing", Saw: "skipped at your request"},
	)
}

// run runs the command at a terminal with the person's input.
func (p *fakeDoctor) run(t *testing.T, typed string, args ...string) (out, said string, exit int) {
	t.Helper()
	w := newWorld()
	w.typed = typed
	var stdout, stderr bytes.Buffer
	cfg := w.config(nil, &stdout, &stderr)
	cfg.Version = "v1"
	cfg.NewDoctor = func(_ cli.Flags, may func(context.Context) bool) (cli.Doctor, func() error, error) {
		if p.asks != nil {
			p.asks = may
		}
		return p, func() error { return nil }, nil
	}
	cfg.Terminal = cli.Terminal{Width: 72}
	if typed != "" {
		cfg.Terminal.Ask = w.ask(&stderr)
	}
	exit = cli.Run(t.Context(), cfg, append([]string{"doctor"}, args...))
	return stdout.String(), stderr.String(), exit
}

// TestDoctorText checks that a successful finding takes one line, and that others have
// details and advice, folded at the width of the terminal, except for commands.
func TestDoctorText(t *testing.T) {
	p := &fakeDoctor{findings: brokenFinding()}
	out, _, exit := p.run(t, "", "--skip", "client")
	_, report, _ := strings.Cut(out, "\n\n")
	report, last, _ := strings.Cut(report, "\n\n")
	const want = `  ok       configuration                  it is right
  ok       a window               0.87 s  zenity printed what was typed
  broken   home folder            0.01 s  the disk is full: 0 MB are
                                          free, the gateway needs 16
           Done: wrote a file.
           · ~/.cache/aai-gateway takes 32 MB, and can be deleted
           Make room; what is named here can be had again:
               rm -rf /home/ann/.cache/aai-gateway
  broken   screen                         there is none
           Done: looked.
  note     other gateways                 1 other gateway
           Done: looked.
               kill 7
  skipped  a client's start               skipped at your request`
	assert.Check(t, is.Equal(report, want))
	assert.Check(t, is.Equal(exit, 1))
	last = strings.Join(strings.Fields(last), " ")
	assert.Check(t, strings.HasPrefix(last, "Broken: home folder, screen (0.0 s). Next: aai-gateway doctor --fix fixes home folder, screen;"), "the last line is %q", last)
	assert.Check(t, slices.Equal(p.skipped, []string{"client"}), "%q was left out", p.skipped)
	out, _, exit = (&fakeDoctor{findings: okFinding()}).run(t, "")
	assert.Check(t, is.Equal(exit, 0))
	assert.Check(t, is.Contains(out, "\nAll is well (0.0 s). Next: "))
	halted := append(okFinding(), answer.Finding{Check: "stop", Title: "stop", State: "note", Saw: "everything is stopped", Commands: []string{"aai-gateway start"}})
	out, _, exit = (&fakeDoctor{findings: halted}).run(t, "")
	assert.Equal(t, exit, 0, out)
	assert.Assert(t, !strings.Contains(out, "All is well"), "exit code %d: %s", exit, out)
	assert.Assert(t, is.Contains(strings.Join(strings.Fields(out), " "), "All works (0.0 s), but everything is stopped. Next: aai-gateway start"), out)
	out, said, exit := (&fakeDoctor{findings: brokenFinding()}).run(t, "", "--format", "quiet")
	assert.Check(t, is.Equal(exit, 1), "%q %q", out, said)
	assert.Check(t, is.Equal(out+said, ""), "%q %q", out, said)
}

// TestDoctorJSON checks that the JSON form of the report does not change.
func TestDoctorJSON(t *testing.T) {
	p := &fakeDoctor{findings: brokenFinding()}
	out, _, exit := p.run(t, "", "--format", "json", "--bundle", "report.zip")
	var got map[string]any
	if err := json.Unmarshal([]byte(out), &got); err != nil || exit != 1 {
		t.Fatalf("exit code %d: %v: %s", exit, err, out)
	}
	delete(got, "took_ms")
	delete(got, "system")
	checks, _ := got["checks"].([]any)
	got["checks"] = checks[2]
	shown, err := json.Marshal(got)
	assert.NilError(t, err)
	const want = `{"bundle":["report.json  what this command found"],` +
		`"checks":{"advice":"Make room; what is named here can be had again:","check":"home","commands":["rm -rf /home/ann/.cache/aai-gateway"],` +
		`"details":["~/.cache/aai-gateway takes 32 MB, and can be deleted"],"did":"wrote a file","mends":"empty ~/.cache/aai-gateway",` +
		`"saw":"the disk is full: 0 MB are free, the gateway needs 16","state":"broken","title":"home folder","took_ms":10},` +
		`"next":"Broken: home folder, screen (0.0 s). Next: aai-gateway doctor --fix fixes home folder, screen; it asks before each change.",` +
		`"program":"v1","state":"broken","version":1}`
	assert.Check(t, is.Equal(string(shown), want), shown)
	assert.Check(t, is.Equal(p.bundlePath, "report.zip"))
}

// TestDoctorFix checks that only confirmed fixes are applied.
func TestDoctorFix(t *testing.T) {
	for _, c := range []struct {
		name, typed string
		args        []string
		mended      []string
		says        string
		exit        int
	}{
		{"yes and no", "y\nn\n", nil, []string{"home"}, "home folder: done: empty ~/.cache/aai-gateway", 1},
		{"no", "\n\n", nil, nil, "Broken: home folder, screen", 1},
		{"fails", "n\ny\n", nil, nil, "screen: the fix failed: nobody is there", 1},
		{"without a question", "", []string{"--yes"}, []string{"home"}, "Fixed: home folder. Next: run aai-gateway doctor again", 1},
		{"nobody is there", "", nil, nil, "there is no terminal to ask at; give --yes as well", 2},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := &fakeDoctor{findings: brokenFinding()}
			out, said, exit := p.run(t, c.typed, append([]string{"--fix"}, c.args...)...)
			text := strings.Join(strings.Fields(out+said), " ")
			if !slices.Equal(p.mended, c.mended) || !strings.Contains(text, c.says) || exit != c.exit {
				t.Errorf("mended %q, exit code %d: %s", p.mended, exit, text)
			}
		})
	}
}

// TestDoctorAsksForTheScreen checks that a window opens only if the person agrees.
func TestDoctorAsksForTheScreen(t *testing.T) {
	for typed, want := range map[string]bool{"y\n": true, "\n": false} {
		p := &fakeDoctor{findings: okFinding(), asks: func(context.Context) bool { return false }}
		if _, said, _ := p.run(t, typed); !slices.Equal(p.windowAnswers, []bool{want}) || !strings.Contains(said, "May a small one appear on your screen") {
			t.Errorf("%q: %v: %s", typed, p.windowAnswers, said)
		}
	}
	p := &fakeDoctor{findings: okFinding(), asks: func(context.Context) bool { return false }}
	if p.run(t, ""); p.asks != nil {
		t.Error("where nobody can be asked there is something that asks")
	}
	_, _, exit := (&fakeDoctor{findings: okFinding()}).run(t, "", "--skip", "windows")
	assert.Check(t, is.Equal(exit, 2), "an examination that is none: exit code %d", exit)
}

// TestDoctorBundleNamesAFile checks that --bundle without a file name is a usage error.
func TestDoctorBundleNamesAFile(t *testing.T) {
	for _, name := range []string{"", "-"} {
		p := &fakeDoctor{findings: okFinding(), bundlePath: "nothing"}
		_, said, exit := p.run(t, "", "--bundle", name)
		assert.Check(t, is.Equal(exit, 2), "%q", name)
		assert.Check(t, is.Equal(p.bundlePath, "nothing"), "%q", name)
		assert.Check(t, is.Contains(said, "names no file"), "%q", name)
	}
}
