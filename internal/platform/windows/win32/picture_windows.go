package win32

import (
	"image"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A bitmapHeader is BITMAPINFOHEADER.
type bitmapHeader struct {
	size          uint32
	width, height int32
	planes, bits  uint16
	compression   uint32
	sizeImage     uint32
	xPels, yPels  int32
	used, needed  uint32
}

// A Canvas is a picture in memory on which Windows draws.
type Canvas struct {
	dc, bitmap, former uintptr
	size               image.Point
	bits               unsafe.Pointer
}

// NewCanvas returns a canvas whose points are all 0, with the alpha 0. Close frees it.
func NewCanvas(size image.Point) (*Canvas, error) {
	const dibRGB = 0
	header := bitmapHeader{width: int32(size.X), height: -int32(size.Y), planes: 1, bits: 32} // negative: the first row is the top one
	header.size = uint32(unsafe.Sizeof(header))
	c := &Canvas{size: size}
	var err error
	if c.dc, _, err = procedure("gdi32.dll", "CreateCompatibleDC").Call(0); c.dc == 0 {
		return nil, err
	}
	c.bitmap, _, err = procedure("gdi32.dll", "CreateDIBSection").Call(c.dc, uintptr(unsafe.Pointer(&header)), dibRGB, //nolint:gosec // the system reads the header
		uintptr(unsafe.Pointer(&c.bits)), 0, 0) //nolint:gosec // the system fills in the address
	if c.bitmap == 0 || c.bits == nil {
		c.Close()
		return nil, err
	}
	c.former, _, _ = procedure("gdi32.dll", "SelectObject").Call(c.dc, c.bitmap)
	return c, nil
}

// Close frees the canvas.
func (c *Canvas) Close() {
	if c.former != 0 {
		_, _, _ = procedure("gdi32.dll", "SelectObject").Call(c.dc, c.former)
	}
	if c.bitmap != 0 {
		_, _, _ = procedure("gdi32.dll", "DeleteObject").Call(c.bitmap)
	}
	_, _, _ = procedure("gdi32.dll", "DeleteDC").Call(c.dc)
}

// pixels returns the memory of the canvas: blue, green, red and alpha of each point.
func (c *Canvas) pixels() []byte {
	_, _, _ = procedure("gdi32.dll", "GdiFlush").Call()
	return unsafe.Slice((*byte)(c.bits), 4*c.size.X*c.size.Y) //nolint:gosec // the memory of the bitmap has that size
}

// IsBlank reports whether nothing was drawn but black.
func (c *Canvas) IsBlank() bool {
	for i, b := range c.pixels() {
		if b != 0 && i%4 != 3 {
			return false
		}
	}
	return true
}

// Image returns a part of the canvas as an opaque picture.
func (c *Canvas) Image(part image.Rectangle) *image.RGBA {
	picture := image.NewRGBA(image.Rect(0, 0, part.Dx(), part.Dy()))
	from := c.pixels()
	for y := range part.Dy() {
		row := picture.Pix[y*picture.Stride:]
		at := 4 * ((part.Min.Y+y)*c.size.X + part.Min.X)
		for x := range part.Dx() {
			p := from[at+4*x:]
			row[4*x], row[4*x+1], row[4*x+2], row[4*x+3] = p[2], p[1], p[0], 0xff
		}
	}
	return picture
}

// Draw draws an opaque picture, which has the size of the canvas.
func (c *Canvas) Draw(picture *image.RGBA) {
	to := c.pixels()
	for i := 0; i+3 < len(to); i += 4 {
		to[i], to[i+1], to[i+2], to[i+3] = picture.Pix[i+2], picture.Pix[i+1], picture.Pix[i], 0xff
	}
}

// CopyScreen copies the screen from the point on, with layered windows.
func (c *Canvas) CopyScreen(from desktop.Point) error { return c.copy(0, from) }

// CopyWindow copies the window as it shows on the screen, with its borders.
func (c *Canvas) CopyWindow(w Window) error { return c.copy(w, desktop.Point{}) }

func (c *Canvas) copy(w Window, from desktop.Point) error {
	const sourceCopy, captureLayered = 0x00CC0020, 0x40000000
	dc, _, err := procedure("user32.dll", "GetWindowDC").Call(uintptr(w))
	if w == 0 {
		dc, _, err = procedure("user32.dll", "GetDC").Call(0)
	}
	if dc == 0 {
		return err
	}
	ok, _, err := procedure("gdi32.dll", "BitBlt").Call(c.dc, 0, 0, uintptr(c.size.X), uintptr(c.size.Y), dc,
		uintptr(from.X), uintptr(from.Y), sourceCopy|captureLayered)
	_, _, _ = procedure("user32.dll", "ReleaseDC").Call(uintptr(w), dc)
	if ok == 0 {
		return err
	}
	return nil
}

// Print lets the window draw itself with its borders, also if it is covered. It waits for the window's program.
func (c *Canvas) Print(w Window) bool {
	const renderFullContent = 2 // PW_RENDERFULLCONTENT: also the drawings of the graphics card
	ok, _, _ := procedure("user32.dll", "PrintWindow").Call(uintptr(w), c.dc, renderFullContent)
	return ok != 0
}

// A displayDevice is DISPLAY_DEVICEW.
type displayDevice struct {
	size            uint32
	name            [32]uint16
	description     [128]uint16
	flags           uint32
	device, regPath [128]uint16
}

// A deviceMode is the part of DEVMODEW for displays.
type deviceMode struct {
	name                            [32]uint16
	version, driver, size, extra    uint16
	fields                          uint32
	x, y                            int32
	orientation, fixed              uint32
	color, duplex, resolution       int16
	option, collate                 int16
	form                            [32]uint16
	logPixels                       uint16
	bits, width, height             uint32
	flags, frequency                uint32
	icm, intent, media, dither      uint32
	reserved1, reserved2, pan, pan2 uint32
}

// Monitors lists the monitors of the desktop, the primary one first.
func Monitors() []desktop.Monitor {
	const attached, primary, currentSettings, most = 1, 4, ^uintptr(0), 64
	var monitors []desktop.Monitor
	for i := range uintptr(most) {
		device := displayDevice{}
		device.size = uint32(unsafe.Sizeof(device))
		if ok, _, _ := procedure("user32.dll", "EnumDisplayDevicesW").Call(0, i, uintptr(unsafe.Pointer(&device)), 0); ok == 0 { //nolint:gosec // the system fills it in
			break
		}
		mode := deviceMode{}
		mode.size = uint16(unsafe.Sizeof(mode))
		ok, _, _ := procedure("user32.dll", "EnumDisplaySettingsW").Call(uintptr(unsafe.Pointer(&device.name[0])), currentSettings, uintptr(unsafe.Pointer(&mode))) //nolint:gosec // the system fills it in
		if device.flags&attached == 0 || ok == 0 || mode.width == 0 {
			continue
		}
		m := desktop.Monitor{
			Name: strings.TrimPrefix(windows.UTF16ToString(device.name[:]), `\\.\`), Primary: device.flags&primary != 0,
			Frame: desktop.Rect{X: int(mode.x), Y: int(mode.y), W: int(mode.width), H: int(mode.height)},
		}
		m.Scale = scaleAt(m.Frame.Center())
		if m.Primary {
			monitors = append([]desktop.Monitor{m}, monitors...)
		} else {
			monitors = append(monitors, m)
		}
	}
	return monitors
}

// scaleAt returns the scale of the monitor at the point, or 1.
func scaleAt(p desktop.Point) float64 {
	const nearest, effective, normal = 2, 0, 96
	var x, y uint32
	monitor, _, _ := procedure("user32.dll", "MonitorFromPoint").Call(uintptr(uint32(int32(p.X)))|uintptr(uint32(int32(p.Y)))<<32, nearest)
	result, _, _ := procedure("shcore.dll", "GetDpiForMonitor").Call(monitor, effective, uintptr(unsafe.Pointer(&x)), uintptr(unsafe.Pointer(&y))) //nolint:gosec // the system fills them in
	if result != 0 || x == 0 {
		return 1
	}
	return float64(x) / normal
}

// UseRealPixels makes Windows measure everything in the pixels of each monitor. It must come before the first window; where the
// program's manifest already says so, it does nothing.
func UseRealPixels() {
	const perMonitorV2 = ^uintptr(3) // -4
	if p := procedure("user32.dll", "SetProcessDpiAwarenessContext"); p.Find() == nil {
		_, _, _ = p.Call(perMonitorV2)
	}
}

// WorkArea returns the part of the main monitor that the taskbar leaves free.
func WorkArea() desktop.Rect {
	const getWorkArea = 0x0030
	var r windows.Rect
	ok, _, _ := procedure("user32.dll", "SystemParametersInfoW").Call(getWorkArea, 0, uintptr(unsafe.Pointer(&r)), 0) //nolint:gosec // the system fills it in
	if ok == 0 {
		return VirtualScreen()
	}
	return rectOf(r)
}
