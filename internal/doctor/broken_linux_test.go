package doctor

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A fakeApp is the gateway's own app with given answers, and the other parts of its gateway.
type fakeApp struct {
	answers map[string][]string // JSON by tool; the last one stays
	ready   error               // of the journal
}

func (a *fakeApp) Apps() []*aai.App                                            { return nil }
func (a *fakeApp) OnChange(func()) func()                                      { return func() {} }
func (a *fakeApp) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }
func (a *fakeApp) Record(context.Context, *aai.Entry) error                    { return nil }
func (a *fakeApp) Ready(context.Context) error                                 { return a.ready }

func (a *fakeApp) Find(_ context.Context, id string) (*aai.App, error) {
	app := &aai.App{ID: id}
	for name, left := range a.answers {
		app.Tools = append(app.Tools, &aai.Tool{Name: name, Effect: aai.Reads, Params: aai.Schema{Check: func(v any) (any, error) { return v, nil }},
			Run: func(context.Context, *aai.Call) (*aai.Result, error) {
				if len(left) > 1 {
					a.answers[name] = left[1:]
				}
				var data any
				err := json.Unmarshal([]byte(left[0]), &data)
				return &aai.Result{Text: "as told", Data: data}, err
			}})
	}
	return app, nil
}

func (a *fakeApp) gateway() *gateway.Gateway {
	return &gateway.Gateway{Catalog: a, Journal: a, Gates: []aai.Gate{a}}
}

// A condition is a computer on which one check has something to report.
type condition struct {
	check, name string
	app         fakeApp // of the person's gateway
	session     string  // JSON of the gateway's own check
	home        error   // why the home cannot be written
	change      func(c *Config)
}

// answered returns an app with one tool.
func answered(tool string, answers ...string) fakeApp {
	return fakeApp{answers: map[string][]string{tool: answers}}
}

// found returns the session of variables from the environment.
func found(variables ...string) string {
	var all []string
	for i := 0; i < len(variables); i += 2 {
		all = append(all, fmt.Sprintf(`%q: {"Value": %q, "From": "the environment"}`, variables[i], variables[i+1]))
	}
	return `"Found": {` + strings.Join(all, ", ") + `}`
}

// scratchAnswers lets the scratch gateway answer with the verdicts.
func scratchAnswers(verdicts ...string) func(*Config) {
	return func(c *Config) {
		c.NewScratchGateway = func(home string, _ func(string) string, _ aai.Asker) (*gateway.Gateway, func() error, error) {
			app := &fakeApp{answers: map[string][]string{"apps": {"{}"}}}
			for _, v := range verdicts {
				app.answers["audit_verify"] = append(app.answers["audit_verify"], `{"status": "`+v+`"}`)
			}
			return app.gateway(), func() error { return nil }, os.WriteFile(filepath.Join(home, "audit.jsonl"), []byte(`"apps"`), 0o600)
		}
	}
}

// scratchTool lets the scratch gateway have one tool.
func scratchTool(name, answer string) func(*Config) {
	return func(c *Config) {
		c.NewScratchGateway = func(string, func(string) string, aai.Asker) (*gateway.Gateway, func() error, error) {
			app := answered(name, answer)
			return app.gateway(), func() error { return nil }, nil
		}
	}
}

// program installs a program in the only folder of the PATH.
func program(name, script string) func(*Config) {
	return func(c *Config) {
		file := filepath.Join(c.Getenv("PATH"), name)
		if err := os.WriteFile(file, []byte("#!/bin/sh\n"+script+"\n"), 0o700); err != nil {
			panic(err)
		}
		if name == "client" {
			c.Executable = file
		}
	}
}

// conditions returns what each check can meet, in a temporary folder. A bus with the address serves an
// accessibility bus that is switched off.
func conditions(tmp, bus string) []condition {
	wrong := func(message string) func(*Config) {
		return func(c *Config) { c.ConfigError = aai.Errorf(aai.InvalidParams, "%s", message) }
	}
	keychain := func(name, answer string, change func(*Config)) condition {
		return condition{check: "keychain", name: name, app: answered("keychain_status", answer), change: change}
	}
	places := `"places": [{"name": "keychain", "title": "the keychain", "detail": "no bus"}, {"name": "file", "title": "a key file"}]`
	compositor := func(parts string) string {
		return found("WAYLAND_DISPLAY", "wayland-0") + `, "Compositor": {` + parts + `}`
	}
	fifo, plain := filepath.Join(tmp, "fifo"), filepath.Join(tmp, "plain")
	journal := func(path string, err error) fakeApp {
		return fakeApp{ready: &fs.PathError{Op: "open", Path: path, Err: err}}
	}
	tampered := scratchAnswers("ok", "tampered")
	return []condition{
		{check: "settings", name: "none"},
		{check: "settings", name: "right", change: func(c *Config) { c.Settings = plain }},
		{check: "settings", name: "without effect", change: func(c *Config) { c.Settings, c.Notes = plain, []string{"a note"} }},
		{check: "settings", name: "a wrong variable", change: wrong("AAI_BAD: no")},
		{check: "settings", name: "a wrong place", change: func(c *Config) { c.Settings = plain; wrong(plain + ": line 1")(c) }},
		{check: "settings", name: "open to others", change: func(c *Config) { c.Gateway = nil; wrong("others may write")(c) }},
		{check: "home", name: "not a place for files", change: func(c *Config) { c.DataDir = "/proc/none" }, home: &unwritable{"/proc", syscall.ENOENT}},
		{check: "home", name: "without a right", home: &unwritable{tmp, fs.ErrPermission}},
		{check: "home", name: "read-only", home: &unwritable{"/proc", syscall.EROFS}},
		{check: "home", name: "full", home: &unwritable{tmp, syscall.ENOSPC}},
		{check: "bus", name: "does not answer", session: found("DBUS_SESSION_BUS_ADDRESS", "unix:path="+tmp+"/bus") + `, "Refused": [{"What": "DISPLAY", "From": "x", "Why": "y"}]`},
		{check: "bus", name: "a file in its place", session: found("DBUS_SESSION_BUS_ADDRESS", "unix:path="+plain), change: program("dbus-daemon", "exit 3")},
		{check: "bus", name: "hangs", session: found("DBUS_SESSION_BUS_ADDRESS", "unix:path="+tmp+"/deaf"), change: program("dbus-daemon", "exit 3")},
		{check: "bus", name: "answers", session: found("DBUS_SESSION_BUS_ADDRESS", bus)},
		{check: "screen", name: "there", session: found("DISPLAY", ":7")},
		{check: "screen", name: "another than named", session: found("DISPLAY", ":7") + `, "Passed": ":8"`},
		{check: "screen", name: "a whole compositor", session: compositor(`"Windows": "w", "Pictures": "p", "Input": "i", "Clipboard": "c"`)},
		{check: "screen", name: "a compositor without pictures", session: compositor(`"Windows": "w", "Input": "i"`)},
		{check: "screen", name: "a broken compositor", session: compositor(`"Error": "gone"`)},
		{check: "screen", name: "none"},
		{check: "accessibility", name: "no bus"},
		{check: "accessibility", name: "off", session: found("DBUS_SESSION_BUS_ADDRESS", bus)},
		{check: "window", name: "no program for it"},
		{check: "question", name: "no gateway"},
		{check: "service", name: "no bus can start", session: `"Found": {}`},
		{check: "service", name: "answers", session: found("DBUS_SESSION_BUS_ADDRESS", bus), change: scratchTool("turn", `"7 好你 ,eßürG"`)},
		{check: "service", name: "answers otherwise", session: found("DBUS_SESSION_BUS_ADDRESS", bus), change: scratchTool("turn", `"7"`)},
		{check: "service", name: "has no tool", session: found("DBUS_SESSION_BUS_ADDRESS", bus), change: scratchTool("other", `"7"`)},
		{check: "web", name: "no scratch gateway"},
		{check: "web", name: "answers without a login", change: scratchTool("list_errands", `[]`)},
		{check: "web", name: "asks for no login", change: scratchTool("other", `[]`)},
		{check: "journal", name: "a pipe in its place", app: journal(fifo, syscall.ENXIO), change: tampered},
		{check: "journal", name: "without a right", app: journal(plain, fs.ErrPermission)},
		{check: "journal", name: "no place", app: fakeApp{ready: errors.New("no folder")}},
		{check: "journal", name: "no home", app: fakeApp{ready: errors.New("no folder")}, home: &unwritable{tmp, syscall.EIO}},
		{check: "journal", name: "a new record is doubted", change: scratchAnswers("tampered")},
		{check: "journal", name: "a change goes unnoticed", change: scratchAnswers("ok", "ok")},
		{check: "journal", name: "mine is changed", app: answered("audit_verify", `{"status": "tampered"}`), change: tampered},
		{check: "journal", name: "mine is unproven", app: answered("audit_verify", `{"status": "unproven"}`), change: tampered},
		{check: "journal", name: "mine is not verified", change: tampered},
		{check: "journal", name: "mine is intact", app: answered("audit_verify", `{"status": "ok"}`), change: tampered},
		keychain("consents cannot be read", `{"consents_problem": "they are damaged", "consents_hint": "a hint"}`, nil),
		keychain("consents cannot be saved", `{"place": "file", "consents_unsaved": "no room", "consents_hint": "a hint", `+places+`}`, nil),
		keychain("no place for secrets", `{"problem": "none", `+places+`}`, nil),
		keychain("a lost key", `{"problem": "the key is lost", "place": "file", `+places+`}`, nil),
		keychain("a key file", `{"place": "file", `+places+`}`, nil),
		keychain("an open key file", `{"place": "file", "warning": "others can read it", `+places+`}`, nil),
		keychain("a keychain that keeps", `{"place": "keychain", `+places+`}`, func(c *Config) { c.TryKeychain = func(context.Context) error { return nil } }),
		keychain("a keychain that forgets", `{"place": "keychain", `+places+`}`, func(c *Config) { c.TryKeychain = func(context.Context) error { return errors.New("gone") } }),
		{check: "keychain", name: "no home", home: &unwritable{tmp, syscall.EIO}},
		{check: "keychain", name: "no answer"},
		{check: "pictures", name: "no reader", change: func(c *Config) { c.Model = Model{Text: "eyes", HasKey: true} }},
		{check: "pictures", name: "no key", app: answered("auth_status", `{"logins": []}`), change: program("tesseract", "")},
		{check: "pictures", name: "a kept key", app: answered("auth_status", `{"logins": [{"app": "eyes"}]}`), change: program("tesseract", "")},
		{check: "descriptors", name: "right", app: answered("scan", `{"Files": [{"Path": "/a"}]}`)},
		{check: "descriptors", name: "wrong", app: answered("scan", `{"Files": [{"Path": "`+tmp+`/a", "Errors": [{"Path": "/x", "Problem": "no"}]}, {"Path": "/proc/b", "Status": "invalid"}, {"Path": "/c"}]}`)},
		{check: "gateways", name: "none", change: func(c *Config) { c.Home = tmp + "/other" }},
		{check: "gateways", name: "another"},
		{check: "stop", name: "nothing", app: answered("running", `{}`)},
		{check: "stop", name: "everything", app: answered("running", `{"stops": [{}]}`)},
		{check: "stop", name: "a caller", app: answered("running", `{"stops": [{"caller": "a"}, {"call": "c1"}]}`)},
		{check: "stop", name: "unreadable", app: answered("running", `{"stops": [{}], "unreadable": "no list"}`)},
		{check: "stop", name: "no answer"},
		{check: "client", name: "does not serve", change: program("client", "exit 3")},
		{check: "client", name: "wrong settings", change: wrong("no")},
	}
}

// silentBus listens at the path, and never answers.
func silentBus(t *testing.T, path string) {
	t.Helper()
	l, err := net.Listen("unix", path)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = l.Close() })
}

// switchedOff serves an accessibility bus that is off.
func switchedOff(t *testing.T, bus *testkit.Bus) {
	t.Helper()
	conn := bus.Connect(t)
	enabled := map[string]map[string]*propValue{a11yStatus: {"IsEnabled": {false}}}
	assert.NilError(t, conn.Export(&properties{enabled}, a11yPath, "org.freedesktop.DBus.Properties"))
	_, err := conn.RequestName(a11yName, dbus.NameFlagDoNotQueue)
	assert.NilError(t, err)
}

type propValue struct{ v any }

// properties implements the standard interface.
type properties struct {
	of map[string]map[string]*propValue
}

func (p *properties) Get(of, name string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant(p.of[of][name].v), nil
}

func (p *properties) Set(of, name string, to dbus.Variant) *dbus.Error {
	p.of[of][name].v = to.Value()
	return nil
}

// anotherGateway runs a program of this name that serves, with the home.
func anotherGateway(t *testing.T, home string) {
	t.Helper()
	folder := t.TempDir()
	const script = `cp "$(command -v cat)" aai-gateway && mkfifo serve && { ./aai-gateway serve & echo $!; wait; }`
	shell := exec.CommandContext(t.Context(), "/bin/sh", "-c", script)
	shell.Dir, shell.Env = folder, []string{"HOME=" + home, "PATH=/usr/bin:/bin"}
	p := testkit.StartProcess(t, shell)
	pid := p.ReadLine(t)
	t.Cleanup(func() {
		_ = os.WriteFile(filepath.Join(folder, "serve"), nil, 0o600) // it ends
		_ = p.Close()
	})
	for exe := ""; filepath.Base(exe) != "aai-gateway"; {
		assert.NilError(t, t.Context().Err())
		exe, _ = os.Readlink("/proc/" + pid + "/exe")
	}
}

// TestBroken compares the findings of all conditions with a golden file, so that a check that reports
// another state, reason, remedy or repair is noticed. UPDATE_GOLDEN=1 writes it.
func TestBroken(t *testing.T) {
	tmp := t.TempDir()
	for name, mode := range map[string]fs.FileMode{"plain": 0o600, "open/secrets": 0o700, "cache/own/pages": 0o700, "bin/apt-get": 0o700} {
		assert.NilError(t, os.MkdirAll(filepath.Join(tmp, filepath.Dir(name)), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(tmp, name), make([]byte, 2*megabyte), mode))
	}
	assert.NilError(t, os.Chmod(filepath.Join(tmp, "open"), 0o777))
	assert.NilError(t, syscall.Mkfifo(filepath.Join(tmp, "fifo"), 0o600))
	silentBus(t, filepath.Join(tmp, "deaf"))
	bus := testkit.StartBus(t)
	switchedOff(t, bus)
	anotherGateway(t, tmp)
	var all strings.Builder
	seen := map[string]bool{}
	for _, c := range conditions(tmp, bus.Address) {
		seen[c.check] = true
		path := filepath.Join(tmp, "path")
		assert.NilError(t, os.RemoveAll(path))
		assert.NilError(t, os.Mkdir(path, 0o700))
		assert.NilError(t, os.Link(filepath.Join(tmp, "bin", "apt-get"), filepath.Join(path, "apt-get")))
		t.Setenv("PATH", path)
		env := map[string]string{"PATH": path, "AAI_BAD": "x", "XDG_RUNTIME_DIR": "/run"}
		cfg := Config{
			Home: tmp, DataDir: filepath.Join(tmp, "open"), CacheDir: filepath.Join(tmp, "cache", "own"), Settings: filepath.Join(tmp, "none"),
			Executable: "/none", Gateway: c.app.gateway(), Getenv: func(name string) string { return env[name] }, Model: Model{Text: "eyes", Login: "eyes"},
			NewScratchGateway: func(string, func(string) string, aai.Asker) (*gateway.Gateway, func() error, error) {
				return nil, nil, errors.New("no scratch")
			},
		}
		if c.change != nil {
			c.change(&cfg)
		}
		d := New(cfg)
		d.facts.homeFault = func() error { return c.home }
		d.facts.gatewayCheck = func() (r gatewayCheck, err error) {
			if c.session == "" {
				return r, nil
			}
			return r, json.Unmarshal([]byte(`{"Enabled": true, "Detail": "it is on", "Session": {`+c.session+`}}`), &r)
		}
		d.facts.busAnswers = func() (bool, error) { return d.busAnswers(t.Context()) }
		for _, e := range d.examinations() {
			if e.check == c.check {
				f := examine(t.Context(), e)
				writeFinding(t, &all, c, &f)
			}
		}
	}
	for _, check := range Checks() {
		assert.Check(t, seen[check] || check == "clock", "no condition of the check %q", check) // TestClock has those of the clock
	}
	got := steady(all.String(), tmp, bus.Address)
	if os.Getenv("UPDATE_GOLDEN") != "" {
		assert.NilError(t, os.WriteFile("testdata/broken.txt", []byte(got), 0o600))
	}
	want, err := os.ReadFile("testdata/broken.txt")
	assert.NilError(t, err)
	assert.Check(t, is.Equal(got, string(want)))
}

// writeFinding appends the finding, and the result of its repair.
func writeFinding(t *testing.T, all *strings.Builder, c condition, f *Finding) {
	t.Helper()
	_, _ = fmt.Fprintf(all, "== %s: %s\n%s: %s\n", c.check, c.name, f.State, f.Saw)
	write := func(what string, lines ...string) {
		for _, line := range lines {
			if line != "" {
				_, _ = fmt.Fprintf(all, "%s: %s\n", what, line)
			}
		}
	}
	write("did", f.Did)
	write("detail", f.Details...)
	write("advice", f.Advice)
	write("command", f.Commands...)
	write("fix", f.Fixes)
	assert.Check(t, is.Equal(f.fix != nil, f.Fixes != ""), "%s: %s", c.check, c.name)
	if f.fix != nil && f.State == answer.StateBroken {
		write("fixed", fmt.Sprint(f.fix(t.Context())))
	}
}

// steady replaces the parts of a text that differ between computers.
func steady(text, tmp, bus string) string {
	text = strings.NewReplacer(bus, "BUS", tmp, "TMP", "sudo ", "", fmt.Sprint("chown ", os.Getuid(), " "), "chown ME ", fmt.Sprint("chown -R ", os.Getuid(), " "), "chown -R ME ", runFolder(), "RUN").Replace(text)
	// The client's end is seen by the write or by the read, which comes first is chance.
	text = strings.ReplaceAll(text, "client is closing: write |1: broken pipe", "client is closing: EOF")
	text = regexp.MustCompile(`127.0.0.1:\d+`).ReplaceAllString(text, "127.0.0.1:PORT")
	text = regexp.MustCompile(`Xvfb :\d+ `).ReplaceAllString(strings.ReplaceAll(text, "=:90", "=:N"), "Xvfb :N ")
	return regexp.MustCompile(`\b\d+ (MB|GB)\b|process \d+|kill \d+|DISPLAY=:\d+`).ReplaceAllStringFunc(text, func(s string) string {
		return regexp.MustCompile(`\d+`).ReplaceAllString(s, "N")
	})
}
