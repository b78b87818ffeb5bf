package demo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

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
	if err := binary.Read(bytes.NewReader(b), binary.LittleEndian, &header); err != nil {
		t.Fatal(err)
	}
	if string(header.RIFF[:])+string(header.WAVE[:])+string(header.Fmt[:])+string(header.Data[:]) != "RIFFWAVEfmt data" {
		t.Errorf("the chunks are %s %s %s %s", header.RIFF, header.WAVE, header.Fmt, header.Data)
	}
	if int(header.Size) != len(b)-8 || header.FmtSize != 16 || int(header.DataSize) != len(b)-44 {
		t.Errorf("of %d bytes the sizes are %d, %d and %d", len(b), header.Size, header.FmtSize, header.DataSize)
	}
	if header.Format != 1 || header.Channels != 1 || header.BitsPerSample != 8 || header.BlockAlign != 1 || header.ByteRate != header.SampleRate {
		t.Errorf("the format is %+v", header)
	}
	if header.DataSize != 2*header.ByteRate {
		t.Errorf("2 seconds are %d bytes at %d a second", header.DataSize, header.ByteRate)
	}
	if samples := b[44:]; bytes.Count(samples, []byte{128}) != len(samples) {
		t.Error("it is not silent")
	}
}

// All programs and files of the demo must be installable.
func TestTheDemoHasWhatItNeeds(t *testing.T) {
	for _, id := range demoApps() {
		if _, err := fs.Stat(descriptors.FS(), id+"/aai.json"); err != nil {
			t.Error(err)
		}
	}
	list, err := os.ReadFile(filepath.Join("..", "..", "scripts", "demo-packages.txt"))
	if err != nil {
		t.Fatal(err)
	}
	listed := strings.Fields(regexp.MustCompile(`#.*`).ReplaceAllString(string(list), ""))
	for program, packages := range requiredPrograms() {
		for pkg := range strings.FieldsSeq(packages) {
			if !strings.Contains(" "+strings.Join(listed, " ")+" ", " "+pkg+" ") {
				t.Errorf("%s is of the package %s, which make demo does not install", program, pkg)
			}
		}
	}
}

func TestTheDemoSaysWhatIsMissing(t *testing.T) {
	t.Setenv("PATH", t.TempDir())
	_, err := startSession(t.Context(), Config{})
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || e.Code != aai.AppNotFound || e.Message != "the demo needs Xvfb, dbus-daemon, dunst, gnome-calculator, mousepad, mpv, openbox, thunar, xdotool, xsetroot" {
		t.Fatalf("without any program: %v", err)
	}
	if e.Hint != "Run `make demo`, or: sudo apt-get install dbus-daemon dunst gnome-calculator mousepad mpv mpv-mpris openbox thunar x11-xserver-utils xdotool xvfb" {
		t.Errorf("the hint is %q", e.Hint)
	}
}

// If programs end at once, the demo fails with a reason, and leaves nothing.
func TestASessionThatDoesNotStart(t *testing.T) {
	bin := t.TempDir()
	told := filepath.Join(bin, "told")
	for program := range requiredPrograms() {
		script := "#!/bin/sh\necho \"$@\" >" + told + "\nexit 1\n"
		if err := os.WriteFile(filepath.Join(bin, program), []byte(script), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("PATH", bin)
	_, err := startSession(t.Context(), Config{})
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || e.Code != aai.AutomationFailed || !strings.HasPrefix(e.Message, "the demo's screen did not start: ") {
		t.Fatalf("with a screen that ends at once: %v", err)
	}
	args, err := os.ReadFile(told)
	if err != nil {
		t.Fatal(err)
	}
	_, folder, found := strings.Cut(strings.TrimSpace(string(args)), "-fbdir ")
	if !found {
		t.Fatalf("the screen was started with %s", args)
	}
	if _, err := os.Stat(filepath.Dir(folder)); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("%s was left behind: %v", filepath.Dir(folder), err)
	}
}
