package demo

import (
	"bytes"
	"encoding/binary"
	"errors"
	"image/color"
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

// dump is an X window dump by its fields; dumpOf returns one as Xvfb writes it.
type dump struct {
	header, version, width, height, order, bits, stride, colours uint32
	cut                                                          int // bytes missing at the end
}

func dumpOf(width, height uint32) dump {
	return dump{header: 160, version: 7, width: width, height: height, bits: 32, stride: 4 * width, colours: 256}
}

// pixel returns the colour of a place: a different one everywhere.
func pixel(x, y int) color.RGBA {
	return color.RGBA{uint8(17*x + y), uint8(31*y + 1), uint8(x ^ y), 255}
}

// bytes writes the dump as XWDFile.h describes it: 25 fields of 32 bits, the
// window's name up to the header's size, the colours of 12 bytes, the lines.
func (d dump) bytes() []byte {
	fields := make([]uint32, 25)
	fields[0], fields[1], fields[2], fields[3] = d.header, d.version, 2, 24 // ZPixmap, depth
	fields[4], fields[5], fields[7] = d.width, d.height, d.order
	fields[11], fields[12], fields[19] = d.bits, d.stride, d.colours
	var b []byte
	for _, f := range fields {
		b = binary.BigEndian.AppendUint32(b, f)
	}
	b = append(b, make([]byte, max(0, int(d.header)-len(b)))...)
	b = append(b, bytes.Repeat([]byte{0xee}, int(d.colours)*12)...)
	for y := range int(d.height) {
		line := make([]byte, d.stride)
		for x := range int(min(d.width, d.stride/4)) {
			p := pixel(x, y)
			if d.order == 0 {
				copy(line[4*x:], []byte{p.B, p.G, p.R, 0x77})
			} else {
				copy(line[4*x:], []byte{0x77, p.R, p.G, p.B})
			}
		}
		b = append(b, line...)
	}
	return b[:len(b)-d.cut]
}

func TestADumpIsDecoded(t *testing.T) {
	plain := dumpOf(5, 3)
	swapped, padded, bare := plain, plain, plain
	swapped.order = 1
	padded.stride = 64
	bare.header, bare.colours = 100, 0
	for name, d := range map[string]dump{"plain": plain, "big-endian": swapped, "padded": padded, "bare": bare, "one pixel": dumpOf(1, 1)} {
		picture, err := decodeXWD(d.bytes())
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		size := picture.Bounds().Size()
		assert.Check(t, is.Equal(size.X, int(d.width)), "%s %v", name, size)
		assert.Check(t, is.Equal(size.Y, int(d.height)), "%s %v", name, size)
		for y := range int(d.height) {
			for x := range int(d.width) {
				got, want := picture.At(x, y), pixel(x, y)
				assert.Equal(t, got, want, "%s %d %d", name, x, y)
			}
		}
	}
}

func TestWhatIsNoDumpIsRefused(t *testing.T) {
	for name, change := range map[string]func(*dump){
		"version 6":               func(d *dump) { d.version = 6 },
		"24 bits":                 func(d *dump) { d.bits = 24 },
		"no width":                func(d *dump) { d.width = 0 },
		"no height":               func(d *dump) { d.height = 0 },
		"lines too short":         func(d *dump) { d.stride-- },
		"one byte missing":        func(d *dump) { d.cut = 1 },
		"header within its field": func(d *dump) { d.header, d.colours = 99, 0 },
	} {
		d := dumpOf(5, 3)
		change(&d)
		if picture, err := decodeXWD(d.bytes()); err == nil {
			t.Errorf("%s: decoded as %v", name, picture.Bounds())
		}
	}
	whole := dumpOf(5, 3).bytes()
	for _, field := range []int{xwdHeaderSize, xwdWidth, xwdHeight, xwdBytesPerLine, xwdColours} {
		for _, value := range []uint32{1<<31 - 1, 1 << 31, 1<<32 - 1} {
			huge := bytes.Clone(whole)
			binary.BigEndian.PutUint32(huge[field:], value)
			_, err := decodeXWD(huge)
			assert.Check(t, err != nil, "%d at offset %d was accepted", value, field)
		}
	}
	for n := range whole {
		_, err := decodeXWD(whole[:n])
		assert.Assert(t, err != nil, "the first %d of %d bytes were accepted", n, len(whole))
	}
}

// FuzzDecodeXWD checks that no dump makes the decoder panic, and that a picture is never larger
// than its dump.
func FuzzDecodeXWD(f *testing.F) {
	swapped, cut := dumpOf(3, 2), dumpOf(3, 2)
	swapped.order, cut.cut = 1, 5
	for _, d := range []dump{dumpOf(3, 2), swapped, cut, dumpOf(1, 1)} {
		f.Add(d.bytes())
	}
	f.Add([]byte{})
	f.Add(bytes.Repeat([]byte{0xff}, 200))
	f.Fuzz(func(t *testing.T, b []byte) {
		picture, err := decodeXWD(b)
		if err != nil {
			return
		}
		size := picture.Bounds().Size()
		assert.Check(t, size.X >= 1, "a dump of %d bytes became a picture of %v", len(b), size)
		assert.Check(t, size.Y >= 1, "a dump of %d bytes became a picture of %v", len(b), size)
		assert.Check(t, 4*size.X*size.Y <= len(b), "a dump of %d bytes became a picture of %v", len(b), size)
	})
}
