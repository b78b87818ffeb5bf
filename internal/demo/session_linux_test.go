package demo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"io/fs"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/descriptors"
)

func TestSilenceIsAWaveFile(t *testing.T) {
	b := silence(2)
	var header struct {
		RIFF          [4]byte
		Size          uint32
		WAVE          [4]byte
		Fmt           [4]byte
		FmtSize       uint32
		Format        uint16
		Channels      uint16
		SampleRate    uint32
		ByteRate      uint32
		BlockAlign    uint16
		BitsPerSample uint16
		Data          [4]byte
		DataSize      uint32
	}
	assert.NilError(t, binary.Read(bytes.NewReader(b), binary.LittleEndian, &header))
	assert.Check(t, is.Equal(string(header.RIFF[:])+string(header.WAVE[:])+string(header.Fmt[:])+string(header.Data[:]), "RIFFWAVEfmt data"), "the chunks are %s %s %s %s", header.RIFF, header.WAVE, header.Fmt, header.Data)
	assert.Check(t, is.Equal(int(header.Size), len(b)-8), "%d %d %d %d", len(b), header.Size, header.FmtSize, header.DataSize)
	assert.Check(t, header.FmtSize == 16, "of %d bytes the sizes are %d, %d and %d", len(b), header.Size, header.FmtSize, header.DataSize)
	assert.Check(t, is.Equal(int(header.DataSize), len(b)-44), "%d %d %d %d", len(b), header.Size, header.FmtSize, header.DataSize)
	assert.Check(t, header.Format == 1, "the format is %+v", header)
	assert.Check(t, header.Channels == 1, "the format is %+v", header)
	assert.Check(t, header.BitsPerSample == 8, "the format is %+v", header)
	assert.Check(t, header.BlockAlign == 1, "the format is %+v", header)
	assert.Check(t, is.Equal(header.ByteRate, header.SampleRate), "%+v", header)
	assert.Check(t, is.Equal(header.DataSize, 2*header.ByteRate), "2 seconds are %d bytes at %d a second", header.DataSize, header.ByteRate)
	samples := b[44:]
	assert.Check(t, is.Equal(bytes.Count(samples, []byte{128}), len(samples)), "it is not silent")
}

// All programs and files of the demo must be installable.
func TestTheDemoHasWhatItNeeds(t *testing.T) {
	for _, id := range demoApps() {
		_, err := fs.Stat(descriptors.FS(), id+"/aai.json")
		assert.Check(t, err)
	}
	list, err := os.ReadFile(filepath.Join("..", "..", "scripts", "demo-packages.txt"))
	assert.NilError(t, err)
	listed := strings.Fields(regexp.MustCompile(`#.*`).ReplaceAllString(string(list), ""))
	for program, packages := range requiredPrograms() {
		for pkg := range strings.FieldsSeq(packages) {
			assert.Check(t, is.Contains(" "+strings.Join(listed, " ")+" ", " "+pkg+" "), "%s is of the package %s, which make demo does not install", program, pkg)
		}
	}
}

func TestTheDemoSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := startSession(t.Context(), Config{})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "without any program: %v", err)
	assert.Equal(t, e.Code, aai.AppNotFound, err)
	assert.Equal(t, e.Message, "the demo needs Xvfb, dbus-daemon, dunst, gnome-calculator, mousepad, mpv, openbox, thunar, xdotool, xsetroot", err)
	assert.Check(t, is.Equal(e.Hint, "Run `make demo`, or: sudo apt-get install dbus-daemon dunst gnome-calculator mousepad mpv mpv-mpris openbox thunar x11-xserver-utils xdotool xvfb"))
}

// If programs end at once, the demo fails with a reason, and leaves nothing.
func TestASessionThatDoesNotStart(t *testing.T) {
	bin := t.TempDir()
	told := filepath.Join(bin, "told")
	for program := range requiredPrograms() {
		script := "#!/bin/sh\necho \"$@\" >" + told + "\nexit 1\n"
		assert.NilError(t, os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700))
	}
	t.Setenv("PATH", bin)
	_, err := startSession(t.Context(), Config{})
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "with a screen that ends at once: %v", err)
	assert.Equal(t, e.Code, aai.AutomationFailed, err)
	assert.Assert(t, strings.HasPrefix(e.Message, "the demo's screen did not start: "), "with a screen that ends at once: %v", err)
	args, err := os.ReadFile(told)
	assert.NilError(t, err)
	_, folder, found := strings.Cut(strings.TrimSpace(string(args)), "-fbdir ")
	assert.Assert(t, found, "the screen was started with %s", args)
	if _, err := os.Stat(filepath.Dir(folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was left behind: %v", filepath.Dir(folder), err)
	}
}

func TestTheFormSaysWhatWasSubmitted(t *testing.T) {
	f, err := serveForm(t.Context())
	assert.NilError(t, err)
	defer f.close()
	assert.Check(t, strings.HasPrefix(f.address, "http://127.0.0.1:"), "it is served at %s, and not on this computer alone", f.address)
	for path, part := range map[string]string{"": `<form method="post" action="/booked">`, "style.css": "body {"} {
		status, body := get(t, http.MethodGet, f.address+path, nil)
		assert.Check(t, is.Equal(status, http.StatusOK), "%q", path)
		assert.Check(t, is.Contains(body, part), "%q", path)
	}
	status, _ := get(t, http.MethodGet, f.address+"openbox.xml", nil)
	assert.Check(t, is.Equal(status, http.StatusNotFound), "what is no page is %d", status)
	want := url.Values{"name": {"Café Ωmega"}, "message": {"one\r\ntwo & three"}}
	for range 2 { // the second is dropped without blocking
		status, body := get(t, http.MethodPost, f.address+"booked", want)
		assert.Check(t, is.Equal(status, http.StatusOK))
		assert.Check(t, is.Contains(body, "Thank you"))
	}
	got, err := f.wait(t.Context())
	assert.NilError(t, err, "%v %v", want, got)
	assert.Equal(t, got.Encode(), want.Encode(), "%v %v", want, got)
}

func TestTheFormTakesNoMoreThanAForm(t *testing.T) {
	f, err := serveForm(t.Context())
	assert.NilError(t, err)
	defer f.close()
	status, _ := get(t, http.MethodPost, f.address+"booked", url.Values{"message": {strings.Repeat("x", maxBooking)}})
	assert.Check(t, is.Equal(status, http.StatusBadRequest), "a booking that is too long is %d", status)
	select {
	case values := <-f.booked:
		t.Errorf("%d fields were booked all the same", len(values))
	default:
	}
}

func get(t *testing.T, method, address string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	assert.NilError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return response.StatusCode, string(b)
}

func TestChildrenOf(t *testing.T) {
	cmd := exec.CommandContext(t.Context(), "sleep", "60")
	assert.NilError(t, cmd.Start())
	children := childrenOf(os.Getpid())
	assert.Check(t, slices.Contains(children, cmd.Process.Pid), "the children are %v, without %d", children, cmd.Process.Pid)
	children = childrenOf(cmd.Process.Pid)
	assert.Check(t, is.Len(children, 0), "sleep has the children %v", children)
	assert.NilError(t, cmd.Process.Kill())
	_ = cmd.Wait() // it was killed
	assert.Check(t, !slices.Contains(childrenOf(os.Getpid()), cmd.Process.Pid), "%d is a child still", cmd.Process.Pid)
}
