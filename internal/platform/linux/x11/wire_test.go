//go:build linux

package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

func TestParseDisplay(t *testing.T) {
	for name, want := range map[string]address{
		":0": {number: "0"}, ":1.0": {number: "1"}, "unix:12.1": {number: "12", screen: 1},
		"localhost:10.0": {host: "localhost", number: "10"}, "[::1]:3": {host: "[::1]", number: "3"},
	} {
		got, err := parseDisplay(name)
		assert.NilError(t, err, name)
		assert.Equal(t, got, want, name)
	}
	for _, name := range []string{"", "0", ":", ":x", ":-1", ":1.x", ":1.-1", ":99999"} {
		got, err := parseDisplay(name)
		assert.Check(t, err != nil, "%q is taken for %+v", name, got)
	}
}

func TestNoScreen(t *testing.T) {
	for display, words := range map[string]string{"": "no X11 screen", ":x": "should be like :0", ":32000": "cannot be reached"} {
		d := New(Config{Getenv: func(name string) string {
			return map[string]string{"DISPLAY": display}[name]
		}})
		_, err := d.Windows(t.Context())
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "with DISPLAY=%q: %v", display, err)
		assert.Equal(t, e.Code, aai.AutomationNotSupported, "%q %v", display, err)
		assert.Assert(t, e.Hint != "", "with DISPLAY=%q: %v", display, err)
		assert.Assert(t, bytes.Contains([]byte(e.Message), []byte(words)), "with DISPLAY=%q: %v", display, err)
		assert.Check(t, d.Close())
	}
}

// authority returns an entry of the cookie file.
func authority(family uint16, fields ...string) []byte {
	entry := binary.BigEndian.AppendUint16(nil, family)
	for _, f := range fields {
		entry = append(binary.BigEndian.AppendUint16(entry, uint16(len(f))), f...)
	}
	return entry
}

func TestCookie(t *testing.T) {
	host, err := os.Hostname()
	assert.NilError(t, err)
	file := bytes.Join([][]byte{
		authority(256, "elsewhere", "1", cookieProtocol, "0"),
		authority(256, host, "2", cookieProtocol, "1"),
		authority(256, host, "1", "XDM-AUTHORIZATION-1", "2"),
		authority(0, "\x7f\x00\x00\x01", "1", cookieProtocol, "3"),
		authority(256, host, "1", cookieProtocol, "4"),
		authority(65535, "", "", cookieProtocol, "5"),
	}, nil)
	path := filepath.Join(t.TempDir(), "cookies")
	assert.NilError(t, os.WriteFile(path, file, 0o600))
	getenv := func(name string) string { return map[string]string{"XAUTHORITY": path}[name] }
	for number, want := range map[string]string{"1": "4", "2": "1", "3": "5"} {
		got := cookie(getenv, address{number: number})
		assert.Check(t, is.Equal(string(got), want), "for display %s it is %q, want %q", number, got, want)
	}
	got := cookie(func(string) string { return "" }, address{number: "1"})
	assert.Check(t, got == nil, "from nowhere it is %q", got)
	pipe := filepath.Join(t.TempDir(), "pipe") // it has no writer
	assert.NilError(t, syscall.Mkfifo(pipe, 0o600))
	got = cookie(func(string) string { return pipe }, address{number: "1"})
	assert.Check(t, got == nil, "from a pipe it is %q", got)
}

func FuzzFindCookie(f *testing.F) {
	f.Add(authority(256, "host", "1", cookieProtocol, "0123456789abcdef"), "host", "1")
	f.Add([]byte{1, 0, 0xff, 0xff}, "host", "1")
	f.Fuzz(func(t *testing.T, file []byte, host, number string) {
		cookie := findCookie(file, host, number)
		assert.Check(t, cookie == nil || bytes.Contains(file, cookie), "%q is not in the file", cookie)
	})
}

// FuzzAnswers checks that decoding does not fail for any reply.
func FuzzAnswers(f *testing.F) {
	f.Add([]byte{1, 32, 0, 0, 4, 0, 0, 0, 31, 0, 0, 0, 0, 0, 0, 0, 4, 0, 0, 0})
	f.Add(bytes.Repeat([]byte{0xff}, 100))
	f.Fuzz(func(t *testing.T, answer []byte) {
		c := &call{reply: answer}
		_ = c.property().numbers()
		_, _ = c.children()
		_, _ = readMonitors(answer)
		_, _ = parseSetup(answer, 0)
		s := &server{conn: &conn{setup: &setup{idMask: 0x1fffff}}}
		_ = s.readProcesses([]*call{c})
		_ = topCalls{c, c, c, c}.read(1)
		_, _ = s.readClient(1, clientCalls{c, c, c, c, c, c, c, c, c, c, c}, nil)
		if len(answer) > 0 {
			_ = parseEvent(answer)
		}
	})
}

// TestReadMessage checks that an impossibly long reply is not waited for.
func TestReadMessage(t *testing.T) {
	message := replyTo(1)
	binary.NativeEndian.PutUint32(message[4:], 2)
	got, err := readMessage(bytes.NewReader(append(message, make([]byte, 8)...)))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(got, 40))
	_, err = readMessage(bytes.NewReader(message))
	assert.Check(t, is.ErrorIs(err, io.EOF), "an answer without its end: %v", err)
	binary.NativeEndian.PutUint32(message[4:], 1<<30-1)
	_, err = readMessage(bytes.NewReader(message))
	assert.Assert(t, err != nil, "an answer of four gigabytes: %v", err)
	assert.Assert(t, !errors.Is(err, io.EOF), "an answer of four gigabytes: %v", err)
}

// pipe returns a connection to a server that the test plays.
func pipe() (*conn, net.Conn) {
	ours, theirs := net.Pipe()
	return newConn(ours, &setup{idBase: 0x200000, idMask: 0x1fffff, root: 1}, nil), theirs
}

func replyTo(sequence uint16) []byte {
	b := make([]byte, 32)
	b[0] = 1
	binary.NativeEndian.PutUint16(b[2:], sequence)
	return b
}

// TestSilentServer checks that calls end by their deadline, that late replies are dropped,
// and that later calls work.
func TestSilentServer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, server := pipe()
		requests := make(chan struct{}, 100)
		go func() {
			buf := make([]byte, 1<<16)
			for {
				if _, err := server.Read(buf); err != nil {
					return
				}
				requests <- struct{}{}
			}
		}()
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		began := time.Now()
		err := c.do(ctx, getInputFocus(), getInputFocus())
		assert.Assert(t, is.ErrorIs(err, context.DeadlineExceeded))
		assert.Equal(t, time.Since(began), time.Second)
		began = time.Now()
		err = c.do(t.Context(), getInputFocus())
		assert.Assert(t, is.ErrorIs(err, context.DeadlineExceeded))
		assert.Equal(t, time.Since(began), patience)
		last := getInputFocus()
		done := make(chan error)
		go func() { done <- c.do(t.Context(), command(1, 0), last) }()
		synctest.Wait()
		for n := range 5 {
			if n == 3 {
				continue // a command has no reply
			}
			_, err := server.Write(replyTo(uint16(n + 1)))
			assert.NilError(t, err)
		}
		err = <-done
		assert.NilError(t, err)
		assert.NilError(t, last.err)
		assert.Assert(t, last.reply != nil)
		_ = server.Close()
		synctest.Wait()
		err = c.do(t.Context(), getInputFocus())
		assert.Assert(t, err != nil, "without a server: %v", err)
		assert.Assert(t, !c.alive(), "without a server: %v", err)
	})
}

// TestSequenceWraps checks more than 1<<16 requests: sequence numbers have 16 bits on the wire.
func TestSequenceWraps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, server := pipe()
		c.sequence = 1<<16 - 3
		go func() {
			buf := make([]byte, 4)
			for n := uint16(1<<16 - 2); ; n++ {
				if _, err := server.Read(buf); err != nil {
					return
				}
				if _, err := server.Write(replyTo(n)); err != nil {
					return
				}
			}
		}()
		for range 6 {
			assert.NilError(t, c.must(t.Context(), getInputFocus()))
		}
		c.lose(errors.New("the end"))
	})
}

func TestSubtract(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		number := rapid.IntRange(0, 12)
		draw := func() desktop.Rect {
			return desktop.Rect{X: number.Draw(t, "x"), Y: number.Draw(t, "y"), W: number.Draw(t, "w"), H: number.Draw(t, "h")}
		}
		whole, holes := draw(), []desktop.Rect{draw(), draw(), draw()}
		left := []desktop.Rect{whole}
		for _, h := range holes {
			left = desktop.Subtract(left, h)
		}
		for x := range 26 {
			for y := range 26 {
				p := desktop.Point{X: x, Y: y}
				want := 0
				if whole.Contains(p) && !holes[0].Contains(p) && !holes[1].Contains(p) && !holes[2].Contains(p) {
					want = 1
				}
				n := 0
				for _, r := range left {
					if r.Contains(p) {
						n++
					}
				}
				assert.Equal(t, n, want, "%v %v", p, left)
			}
		}
	})
}

func TestReadMonitors(t *testing.T) {
	reply := make([]byte, 32)
	binary.NativeEndian.PutUint32(reply[12:], 2)
	for _, field := range []any{
		uint32(70), true, false, uint16(2), int16(-800), int16(0), uint16(800), uint16(1000), pad(8), uint32(1), uint32(2),
		uint32(71), false, false, uint16(0), int16(0), int16(5), uint16(1600), uint16(900), pad(8),
	} {
		reply = appendField(reply, field)
	}
	monitors, names := readMonitors(reply)
	assert.Assert(t, is.Len(monitors, 2))
	assert.Assert(t, is.Len(names, 2))
	assert.Assert(t, monitors[0].Primary, "%+v", monitors)
	assert.Assert(t, !monitors[1].Primary, "%+v", monitors)
	assert.Equal(t, monitors[0].Frame, (desktop.Rect{X: -800, W: 800, H: 1000}))
	assert.Equal(t, monitors[1].Frame, (desktop.Rect{Y: 5, W: 1600, H: 900}))
}

func TestKeysyms(t *testing.T) {
	for r, want := range map[rune]keysym.Sym{'a': 0x61, 'é': 0xe9, '€': 0x010020ac, '🙂': 0x0101f642, '\n': keysym.Return, '\t': keysym.Tab} {
		got, ok := keysym.Of(r)
		assert.Assert(t, ok, "%c is 0x%x", r, got)
		assert.Equal(t, got, want, "%c", r)
	}
	for _, r := range []rune{0, 0x1b, 0x7f, 0x85, 0xd800, 0xfffe, 0x1ffff, 0xfdd0, -1, 0x110000} {
		got, ok := keysym.Of(r)
		assert.Check(t, !ok, "%U is 0x%x", r, got)
	}
}
