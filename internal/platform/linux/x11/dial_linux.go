package x11

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// An address is the address of an X server, from DISPLAY.
type address struct {
	host   string // "" for the local socket
	number string // of the display
	screen int
}

// parseDisplay parses "[host]:display[.screen]"; X(7), "Display Names".
func parseDisplay(name string) (address, error) {
	colon := strings.LastIndexByte(name, ':')
	if colon < 0 {
		return address{}, fmt.Errorf("DISPLAY is %q, but it should be like :0", name)
	}
	p := address{host: name[:colon]}
	number, screen, hasScreen := strings.Cut(name[colon+1:], ".")
	n, err := strconv.ParseUint(number, 10, 15)
	if err == nil && hasScreen {
		p.screen, err = strconv.Atoi(screen)
	}
	if err != nil || p.screen < 0 {
		return address{}, fmt.Errorf("DISPLAY is %q, but it should be like :0", name)
	}
	p.number = strconv.FormatUint(n, 10)
	if p.host == "unix" {
		p.host = ""
	}
	return p, nil
}

// socket connects to the server.
func (p address) socket(ctx context.Context) (net.Conn, error) {
	var d net.Dialer
	if p.host != "" {
		number, err := strconv.Atoi(p.number)
		if err != nil {
			return nil, err
		}
		return d.DialContext(ctx, "tcp", net.JoinHostPort(strings.Trim(p.host, "[]"), strconv.Itoa(6000+number)))
	}
	path := "/tmp/.X11-unix/X" + p.number
	socket, err := d.DialContext(ctx, "unix", path)
	if err != nil {
		// The same name in the abstract namespace: a sandbox may hide /tmp.
		if abstract, abstractErr := d.DialContext(ctx, "unix", "@"+path); abstractErr == nil {
			return abstract, nil
		}
	}
	return socket, err
}

// dial connects to the X server and performs the handshake.
func dial(ctx context.Context, getenv func(string) string, onEvent func([]byte)) (*conn, error) {
	p, err := parseDisplay(getenv("DISPLAY"))
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	socket, err := p.socket(ctx)
	if err != nil {
		return nil, err
	}
	s, err := handshakeWithin(ctx, socket, p, cookie(getenv, p))
	if err != nil {
		return nil, err
	}
	return newConn(socket, s, onEvent), nil
}

// CheckAccess returns an error unless the X server in DISPLAY accepts the cookie from the
// file in XAUTHORITY. It calls check on the connection before it sends anything, fails if
// check does, and closes the connection.
func CheckAccess(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error {
	p, err := parseDisplay(getenv("DISPLAY"))
	if err != nil {
		return err
	}
	socket, err := p.socket(ctx)
	if err != nil {
		return err
	}
	if err := check(socket); err != nil {
		_ = socket.Close()
		return err
	}
	if _, err := handshakeWithin(ctx, socket, p, cookie(getenv, p)); err != nil {
		return err
	}
	return socket.Close()
}

// handshakeWithin performs the handshake before the context ends. On failure it closes the
// socket.
func handshakeWithin(ctx context.Context, socket net.Conn, p address, cookie []byte) (*setup, error) {
	stop := context.AfterFunc(ctx, func() { _ = socket.SetDeadline(time.Unix(1, 0)) })
	s, err := handshake(socket, p, cookie)
	if !stop() || err != nil {
		_ = socket.Close()
		return nil, errors.Join(ctx.Err(), err)
	}
	return s, nil
}

const cookieProtocol = "MIT-MAGIC-COOKIE-1"

// handshake sends the connection setup and reads the answer; X11 protocol, section 8.
func handshake(socket io.ReadWriter, p address, cookie []byte) (*setup, error) {
	protocol := ""
	if cookie != nil {
		protocol = cookieProtocol
	}
	hello := []byte{nativeOrder(), 0}
	for _, field := range []any{uint16(11), uint16(0), uint16(len(protocol)), uint16(len(cookie)), pad(2),
		protocol, pad(padding(len(protocol))), cookie, pad(padding(len(cookie)))} {
		hello = appendField(hello, field)
	}
	if _, err := socket.Write(hello); err != nil {
		return nil, err
	}
	head := make([]byte, 8)
	if _, err := io.ReadFull(socket, head); err != nil {
		return nil, fmt.Errorf("the X server did not answer: %w", err)
	}
	body := make([]byte, 4*int(binary.NativeEndian.Uint16(head[6:])))
	if _, err := io.ReadFull(socket, body); err != nil {
		return nil, fmt.Errorf("the X server did not answer: %w", err)
	}
	if head[0] != 1 {
		reason := body[:min(int(head[1]), len(body))]
		return nil, fmt.Errorf("the X server refused: %s", bytes.TrimRight(reason, "\x00\n "))
	}
	return parseSetup(body, p.screen)
}

// nativeOrder returns the byte that announces the byte order. Servers may refuse an order
// other than their own.
func nativeOrder() byte {
	if binary.NativeEndian.AppendUint16(nil, 1)[0] == 1 {
		return 'l'
	}
	return 'B'
}

// cookie returns the server's cookie from the file that XAUTHORITY names, or from
// ~/.Xauthority. It returns nil if there is none: many servers authenticate local users
// without a cookie.
func cookie(getenv func(string) string, p address) []byte {
	path := getenv("XAUTHORITY")
	if path == "" {
		home := getenv("HOME")
		if home == "" {
			return nil
		}
		path = filepath.Join(home, ".Xauthority")
	}
	file, err := readCookies(path)
	if err != nil {
		return nil
	}
	host := p.host // as spelled in DISPLAY: only the spellings below mean this computer's name
	if host == "" || host == "localhost" {
		host, err = os.Hostname()
		if err != nil {
			return nil
		}
	}
	return findCookie(file, host, p.number)
}

// maxCookies is the maximum size of a cookie file, in bytes.
const maxCookies = 1 << 20

// readCookies reads a regular file. It does not block on a pipe or a device.
func readCookies(path string) ([]byte, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return nil, err
	}
	defer func() { _ = f.Close() }()
	if info, err := f.Stat(); err != nil || !info.Mode().IsRegular() {
		return nil, errors.New("it is no regular file")
	}
	return io.ReadAll(io.LimitReader(f, maxCookies))
}

// findCookie searches a file of Xau(3): entries of a family and four strings with their
// lengths, all in big endian. It returns the first entry that matches.
func findCookie(file []byte, host, number string) []byte {
	const local, wild = 256, 65535 // families
	next := func() []byte {
		if len(file) < 2 {
			file = nil
			return nil
		}
		n := int(binary.BigEndian.Uint16(file))
		if len(file) < 2+n {
			file = nil
			return nil
		}
		field := file[2 : 2+n]
		file = file[2+n:]
		return field
	}
	for len(file) > 2 {
		family := binary.BigEndian.Uint16(file)
		file = file[2:]
		address, display, protocol, data := next(), next(), next(), next()
		fits := family == wild || family == local && string(address) == host
		if fits && (len(display) == 0 || string(display) == number) && string(protocol) == cookieProtocol && len(data) > 0 {
			return bytes.Clone(data)
		}
	}
	return nil
}

// A setup holds the server's answer to the connection setup.
type setup struct {
	idBase, idMask         uint32
	bigEndianImages        bool
	minKeycode, maxKeycode byte
	bitsPerPixel           map[byte]byte // by depth
	root                   xid
	rootDepth              byte
	rootVisual             visual
	visuals                map[xid]visual
}

// A visual holds the bit masks of the colours in a pixel value.
type visual struct{ red, green, blue uint32 }

// parseSetup decodes the successful answer to the connection setup, without its first
// eight bytes; X11 protocol, appendix B, "Connection Setup".
func parseSetup(body []byte, screen int) (*setup, error) {
	r := from(body, 4)
	s := &setup{idBase: r.u32(), idMask: r.u32(), bitsPerPixel: make(map[byte]byte), visuals: make(map[xid]visual)}
	r.take(4)
	vendor := int(r.u16())
	r.take(2)
	screens, formats := int(r.u8()), int(r.u8())
	s.bigEndianImages = r.u8() == 1
	r.take(3)
	s.minKeycode, s.maxKeycode = r.u8(), r.u8()
	r.take(4)
	r.take(vendor + padding(vendor))
	for range formats {
		depth, bits := r.u8(), r.u8()
		s.bitsPerPixel[depth] = bits
		r.take(6)
	}
	if screen >= screens {
		return nil, fmt.Errorf("DISPLAY names the screen %d, but the X server has %d", screen, screens)
	}
	for i := range screen + 1 {
		s.readScreen(r, i == screen)
	}
	if s.root == none || s.idMask == 0 || s.minKeycode < 8 || s.maxKeycode < s.minKeycode {
		return nil, fmt.Errorf("the X server's greeting makes no sense")
	}
	return s, nil
}

func (s *setup) readScreen(r *replyReader, keep bool) {
	root := r.u32()
	r.take(28)
	visualID := r.u32()
	r.take(2)
	depth, depths := r.u8(), int(r.u8())
	if keep {
		s.root, s.rootDepth = root, depth
	}
	for range depths {
		r.take(2)
		visuals := int(r.u16())
		r.take(4)
		for range visuals {
			id := r.u32()
			r.take(4)
			v := visual{r.u32(), r.u32(), r.u32()}
			r.take(4)
			if keep && v.red != 0 {
				s.visuals[id] = v
			}
		}
	}
	if keep {
		s.rootVisual = s.visuals[visualID]
	}
}
