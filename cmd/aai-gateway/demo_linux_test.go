package main

import (
	"bufio"
	"bytes"
	"errors"
	"image/color"
	"image/png"
	"io"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// demoRun is the program, about to show its demo. Every process of its session
// has the mark in its PATH, and the picture goes to a folder of the test's.
type demoRun struct {
	*exec.Cmd
	mark, pictures string
}

func newDemoRun(t *testing.T) demoRun {
	t.Helper()
	if err := demoReady(); err != nil {
		t.Fatalf("%v (make test installs it)", err)
	}
	d := demoRun{Cmd: exec.CommandContext(t.Context(), "aai-gateway", "demo"), mark: filepath.Join(t.TempDir(), "mark"), pictures: t.TempDir()}
	d.Env = append(os.Environ(), "PATH="+os.Getenv("PATH")+":"+d.mark, "TMPDIR="+d.pictures, "HOME="+t.TempDir())
	return d
}

// left returns the processes of the session that are still there.
func (d demoRun) left(t *testing.T) []string {
	t.Helper()
	processes, err := filepath.Glob("/proc/[0-9]*")
	if err != nil {
		t.Fatal(err)
	}
	var left []string
	for _, process := range processes {
		environ, err := os.ReadFile(filepath.Join(process, "environ"))
		if err != nil || !bytes.Contains(environ, []byte(d.mark)) {
			continue // it is gone, or somebody else's
		}
		command, _ := os.ReadFile(filepath.Join(process, "cmdline"))
		left = append(left, string(bytes.ReplaceAll(command, []byte{0}, []byte(" "))))
	}
	return left
}

// nothingLeft wants that the session has no process and no folder any more.
func (d demoRun) nothingLeft(t *testing.T, output string) {
	t.Helper()
	if left := d.left(t); len(left) > 0 {
		t.Errorf("still running: %q", left)
	}
	folders := regexp.MustCompile(`/tmp/aai-demo-\d+/`).FindAllString(output, -1)
	slices.Sort(folders)
	for _, folder := range slices.Compact(folders) {
		if _, err := os.Stat(folder); !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("%s is left: %v", folder, err)
		}
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
		"── GNOME Calculator computes", "the gateway asks the person", "Allow mcp:demo-agent to use calculate of Calculator?", "6.148914691×10¹⁸",
		"── Dunst shows a notification", "aai_exec", "← ",
		"── Thunar shows a folder", "file:///tmp/aai-demo-",
		"── mpv plays", "← 0.5", "← Playing",
		"── What if the agent is wrong?", "✗ TOOL_NOT_FOUND", "Did you mean: calculate?", "✗ INVALID_PARAMS", `got "loud"`,
		"── What is on record?", "CONSENT_REQUIRED", "all (client)",
		"The desktop at the end: "+d.pictures,
	)
	d.nothingLeft(t, output)
	_, picture, _ := strings.Cut(strings.TrimSpace(output), "The desktop at the end: ")
	mustShowSomething(t, picture)
}

func inOrder(t *testing.T, output string, lines ...string) {
	t.Helper()
	rest := output
	for _, line := range lines {
		_, after, found := strings.Cut(rest, line)
		if !found {
			t.Fatalf("%q is not where it should be in:\n%s", line, output)
		}
		rest = after
	}
}

// mustShowSomething wants a PNG of the screen's size with many colours: a bare
// screen has one.
func mustShowSomething(t *testing.T, path string) {
	t.Helper()
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	picture, err := png.Decode(f)
	if err != nil {
		t.Fatal(err)
	}
	if size := picture.Bounds().Size(); size.X != 1024 || size.Y != 640 {
		t.Errorf("the picture is %v", size)
	}
	colours := map[color.Color]bool{}
	for y := range picture.Bounds().Dy() {
		for x := range picture.Bounds().Dx() {
			colours[picture.At(x, y)] = true
		}
	}
	if len(colours) < 10 {
		t.Errorf("the picture has %d colours; no window was drawn", len(colours))
	}
}

// A person who has seen enough presses ^C.
func TestDemoInterrupted(t *testing.T) {
	d := newDemoRun(t)
	out, err := d.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := d.Start(); err != nil {
		t.Fatal(err)
	}
	var output strings.Builder
	lines := bufio.NewReader(out)
	for !strings.Contains(output.String(), "6.148914691") { // the calculator is running
		line, err := lines.ReadString('\n')
		output.WriteString(line)
		if err != nil {
			t.Fatalf("%v after\n%s", err, output.String())
		}
	}
	if len(d.left(t)) < 5 {
		t.Errorf("in the midst of it only these run: %q", d.left(t))
	}
	if err := d.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	rest, err := io.ReadAll(lines)
	if err != nil {
		t.Fatal(err)
	}
	output.Write(rest)
	err = d.Wait()
	if exit, ok := errors.AsType[*exec.ExitError](err); !ok || exit.ExitCode() != 128+int(syscall.SIGINT) {
		t.Errorf("it ended with %v", err)
	}
	d.nothingLeft(t, output.String())
	nothingIn(t, d.pictures)
}
