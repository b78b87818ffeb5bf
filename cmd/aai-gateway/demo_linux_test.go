package main

import (
	"bufio"
	"bytes"
	"encoding/pem"
	"errors"
	"image"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/demo"
	"github.com/gybob/aai-gateway/internal/testkit"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// demoRun is a run of the demo. Every process of its session has the mark in its PATH, and the
// picture goes to a folder of the test.
type demoRun struct {
	*exec.Cmd
	mark, screenshotDir string
}

func newDemoRun(t *testing.T) demoRun {
	t.Helper()
	err := demo.CheckPrograms()
	assert.NilError(t, err, "%v (make test installs it)", err)
	d := demoRun{Cmd: exec.CommandContext(t.Context(), "aai-gateway", "demo"), mark: filepath.Join(t.TempDir(), "mark"), screenshotDir: t.TempDir()}
	d.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+d.mark, "TMPDIR="+d.screenshotDir, "HOME="+t.TempDir())
	return d
}

// left returns the remaining processes of the session, by id.
func (d demoRun) left(t *testing.T) map[int]string {
	t.Helper()
	left := make(map[int]string)
	for _, process := range testkit.ProcessesWithEnv(t, d.mark) {
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		pid, err := strconv.Atoi(filepath.Base(process))
		assert.NilError(t, err)
		left[pid] = string(bytes.ReplaceAll(command, []byte{0}, []byte(" ")))
	}
	return left
}

// nothingLeft checks that the session left no process and no folder.
func (d demoRun) nothingLeft(t *testing.T, output string) {
	t.Helper()
	left := d.left(t)
	assert.Check(t, is.Len(left, 0), "still running: %v", left)
	folders := regexp.MustCompile(`/tmp/aai-demo-\d+/`).FindAllString(output, -1)
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		_, err := os.Stat(folder)
		assert.Check(t, is.ErrorIs(err, fs.ErrNotExist), folder)
	}
}

func TestDemo(t *testing.T) {
	d := newDemoRun(t)
	var problems bytes.Buffer
	d.Stderr = &problems
	b, err := d.Output()
	output := string(b)
	if err != nil {
		t.Fatalf("%v\n%s\n%s", err, output, problems.String())
	}
	inOrder(t, output,
		"── What apps are there?", "← app_org_gnome_Calculator: ", "← app_org_xfce_Thunar: ",
		"── How is the calculator used?", "calculate",
		"── GNOME Calculator computes", "the gateway asks the person", `to use "calculate" of "Calculator"?`, "6.148914691×10¹⁸",
		"── Dunst shows a notification", "aai_exec", "← ",
		"── Thunar shows a folder", "file:///tmp/aai-demo-",
		"── mpv plays", "← 0.5", "← Playing",
		"── An agent opens programs", "types: aai-gateway consent grant desktop/mousepad start", `ax_find {"app":"browser"`, "← button \"Book it\"",
		"── A text editor", "← Typed into textbox", "✓ on disk, letter.txt contains the typed text: all", "✓ not disturbed, ", `"Documents - Thunar" has the keyboard`,
		"── A calculator", "✓ 12 × 34 = 408", "── The same calculator", "✓ √(3² + 4²) = 5",
		"── Three steps as one", "✗ ELEMENT_NOT_FOUND: announce failed at step 3 of 3", "rolled back: 1 act undone, none is left", "✓ the editor shows the letter",
		"── The agent was wrong", "← 1 of 1 undone", "✓ the editor shows the letter", "── Nine calls in one", "✓ 17 × 3 = 51",
		"── A form on the web", `textbox "Name"`, "✓ the web server got", "Café Ωmega", "✓ not disturbed, ",
		"── A web app without installation", "web_discover", `# "Errands"`, "pressed Allow", "✓ on the list", "Water the plants",
		"── What if the agent is wrong?", "✗ TOOL_NOT_FOUND", "Did you mean: calculate?", "✗ INVALID_PARAMS", `got "loud"`,
		"── What is on record?", "CONSENT_REQUIRED", "always since", "session (client)",
		"The page, invisible to agents: "+d.screenshotDir, "Windows as the agent saw them: "+d.screenshotDir, "The desktop at the end: "+d.screenshotDir,
	)
	d.nothingLeft(t, output)
	_, pictures, _ := strings.Cut(strings.TrimSpace(output), "Windows as the agent saw them: ")
	_, page, _ := strings.Cut(output, "The page, invisible to agents: ")
	page, _, _ = strings.Cut(page, "\n")
	for _, name := range []string{"now-light.png", "now-dark.png", "history-light.png", "history-dark.png"} {
		file, rest, _ := strings.Cut(page, " ")
		page = rest
		assert.Check(t, is.Equal(filepath.Base(file), name), file)
		assert.Check(t, mustShowSomething(t, file).X >= 1000, "%s is not the page's %s", file, name)
	}
	windows, picture, _ := strings.Cut(pictures, "\nThe desktop at the end: ")
	size := mustShowSomething(t, picture)
	assert.Check(t, is.Equal(size, image.Pt(1440, 900)), "the picture of the desktop is %v", size)
	var names []string
	for file := range strings.FieldsSeq(windows) {
		names = append(names, filepath.Base(file))
		size := mustShowSomething(t, file)
		assert.Check(t, size.X >= 300, "%s %v", file, size)
		assert.Check(t, size.Y >= 200, "%s %v", file, size)
	}
	want := []string{"editor.png", "calculator.png", "marks.png", "diff.png", "audit.png", "rolledback.png", "wrong.png", "undone.png", "script.png", "recorded.png", "replayed.png", "form.png"}
	assert.Check(t, slices.Equal(names, want), "the pictures of windows are %q, want %q", names, want)
}

func inOrder(t *testing.T, output string, lines ...string) {
	t.Helper()
	rest := output
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line)
		assert.Assert(t, found, "%q is not where it should be in:\n%s", line, output)
		rest = after
	}
}

// mustShowSomething checks for a PNG with many colours (a bare screen has one), and returns its
// size.
func mustShowSomething(t *testing.T, path string) image.Point {
	t.Helper()
	f, err := os.Open(path)
	assert.NilError(t, err)
	defer func() { _ = f.Close() }()
	picture, err := png.Decode(f)
	assert.NilError(t, err)
	colours := map[color.Color]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			colours[picture.At(x, y)] = true
		}
	}
	assert.Check(t, len(colours) >= 10, "%s has %d colours; no window was drawn", path, len(colours))
	return picture.Bounds().Size()
}

// The user presses ^C while an app started by D-Bus runs, or programs of the agent, one of which
// hangs.
func TestDemoInterrupted(t *testing.T) {
	for name, seen := range map[string]string{"app": "6.148914691", "windows": "✓ 12 × 34 = 408"} {
		t.Run(name, func(t *testing.T) {
			d := newDemoRun(t)
			out, err := d.StdoutPipe()
			assert.NilError(t, err)
			assert.NilError(t, d.Start())
			var output strings.Builder
			lines := bufio.NewReader(out)
			for !strings.Contains(output.String(), seen) {
				line, err := lines.ReadString('\n')
				output.WriteString(line)
				if err != nil {
					t.Fatalf("%v after\n%s", err, output.String())
				}
			}
			running := d.left(t)
			assert.Check(t, len(running) >= 5, "in the midst of it only these run: %v", running)
			for pid, command := range running {
				if !strings.HasPrefix(command, "mousepad ") && !strings.Contains(command, "/mousepad ") {
					continue
				}
				assert.NilError(t, syscall.Kill(pid, syscall.SIGSTOP))
			}
			assert.NilError(t, d.Process.Signal(os.Interrupt))
			rest, err := io.ReadAll(lines)
			assert.NilError(t, err)
			output.Write(rest)
			err = d.Wait()
			exit, ok := errors.AsType[*exec.ExitError](err)
			assert.Assert(t, ok, "it ended with %v", err)
			assert.Assert(t, exit.ExitCode() == 128+int(syscall.SIGINT), "it ended with %v", err)
			d.nothingLeft(t, output.String())
			nothingIn(t, d.screenshotDir)
		})
	}
}

// taskPage is a page of docs/tasks that the test executes: it writes blocks with a file name into
// an empty home and runs sh blocks there. The text block after one is its expected output, with
// "…" for any text. Files below /etc are root's policy and are written elsewhere.
type taskPage struct {
	home, policy string
	env          []string
	replace      *strings.Replacer // hosts of the page, and their local ones
	open         func(file string) // opens a web page after it is written
}

func newTaskPage(t *testing.T, env ...string) *taskPage {
	t.Helper()
	p := &taskPage{home: t.TempDir(), policy: filepath.Join(t.TempDir(), "policy.json"), replace: strings.NewReplacer()}
	p.env = append(env, "HOME="+p.home, "PATH="+os.Getenv("PATH"), "POLICY="+p.policy, "STRICT=1", "PERSON=yes")
	return p
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: file=(\\S+))?\n(.*?)^```$")

// do executes the page.
func (p *taskPage) do(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tasks", name+".md"))
	assert.NilError(t, err)
	lines := strings.Count(string(page), "\n")
	assert.Check(t, lines <= 90, "%s has %d lines; expected 90 at most", name, lines)
	said, run, compared := "", 0, 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		kind, file, body := block[1], block[2], p.replace.Replace(block[3])
		switch {
		case file != "":
			if p.write(t, file, body); kind == "html" {
				p.open(file)
			}
		case kind == "sh":
			said = p.run(t, name, body)
			run++
		case kind == "text":
			compared++
			assert.Assert(t, prints(body).MatchString(said), "%s: expected\n%s\nbut it printed\n%s", name, body, said)
		default:
			t.Errorf("%s: a block of %q is neither run nor written", name, kind)
		}
	}
	assert.Check(t, run >= 3, "%s: only %d blocks were run, and %d compared", name, run, compared)
	assert.Check(t, compared >= 3, "%s: only %d blocks were run, and %d compared", name, run, compared)
}

func prints(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.TrimRight(pattern, "\n"))
	quoted = regexp.MustCompile(`(?m)^…\n`).ReplaceAllLiteralString(quoted, `(?:[^\n]*\n)*`) // a separate line: any lines
	quoted = regexp.MustCompile(`(?m)^…$`).ReplaceAllLiteralString(quoted, `(?s:.*)`)
	return regexp.MustCompile(`\A` + strings.ReplaceAll(quoted, "…", `[^\n]*`) + `\s*\z`)
}

func (p *taskPage) write(t *testing.T, file, body string) {
	t.Helper()
	path := filepath.Join(p.home, strings.TrimPrefix(file, "~/"))
	if file == "/etc/aai-gateway/policy.json" {
		path = p.policy
	} else if !filepath.IsLocal(strings.TrimPrefix(file, "~/")) {
		t.Fatalf("%s is not in the home", file)
	}
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(body), 0o600))
}

func (p *taskPage) run(t *testing.T, name, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	cmd.Dir, cmd.Env = p.home, p.env
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s %s %s", name, script, out)
	return string(out)
}

// TestTaskForm: the form's own server verifies the values.
func TestTaskForm(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	p := newTaskPage(t, s.Env...)
	booked := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(p.home)))
	mux.HandleFunc("POST /booked", func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, r.ParseForm())
		booked <- r.PostForm
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Booked</title><h1>Thank you</h1>")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	p.open = func(file string) { // the user does
		s.Browser(t, site.URL+"/"+file)
		awaitTitle(t, s, "A table for tonight")
	}
	p.do(t, "form")
	got := <-booked
	want := "guests=4&message=A+table+by+the+window.&name=Ann&vegetarian=yes"
	assert.Check(t, is.Equal(got.Encode(), want), "the form arrived with %s, want %s", got.Encode(), want)
}

// TestTaskFiveMinutes: the app is GNOME's calculator, which the bus starts.
func TestTaskFiveMinutes(t *testing.T) {
	newTaskPage(t, linuxtest.Start(t).Env...).do(t, "five-minutes")
}

// TestTaskUnattended: root's policy applies without a user, and a stop ends it.
func TestTaskUnattended(t *testing.T) {
	newTaskPage(t, linuxtest.Start(t).Env...).do(t, "unattended")
}

// TestTaskIsolated: the sessions are real, and their home is not that of the page.
func TestTaskIsolated(t *testing.T) {
	newTaskPage(t).do(t, "isolated")
}

// TestTaskCompany: an internal server, which requires a token, verifies the requests.
func TestTaskCompany(t *testing.T) {
	p := newTaskPage(t)
	refunded := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/aai.json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(p.home, "site.json"))
	})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer a-token-of-ann":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			b, _ := io.ReadAll(r.Body)
			refunded <- r.URL.Path + " " + string(b)
			_, _ = io.WriteString(w, `{"id": 7, "refunded": 50}`)
		default:
			_, _ = io.WriteString(w, `[{"id": 7, "total": 120}]`)
		}
	})
	site := httptest.NewTLSServer(mux)
	t.Cleanup(site.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	assert.NilError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw}), 0o600))
	p.env = append(p.env, "SSL_CERT_FILE="+authority)
	p.replace = strings.NewReplacer("orders.example.com", site.Listener.Addr().String())
	p.do(t, "company")
	got := <-refunded
	assert.Check(t, is.Equal(got, `/v1/orders/7/refund {"amount":50}`), "the server was asked %s", got)
}
