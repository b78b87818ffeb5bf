//go:build darwin || axdouble

package native

// A WindowInfo describes a window as the window server knows it.
type WindowInfo struct {
	ID, PID int
	Owner   string // the name of the program
	Title   string // "" without the permission to record the screen
	Frame   Rect
	Layer   int // 0 for usual windows
	Alpha   float64
}

// maxTitle is the maximum length of a title, in UTF-16 units.
const maxTitle = 500

// Windows lists the windows, the front one first: those on the screen, or all with those that are minimized or on other spaces.
func (a *API) Windows(onScreen bool) []WindowInfo {
	const all, onlyOnScreen, withoutDesktop = 0, 1, 16
	options := uint32(all | withoutDesktop)
	if onScreen {
		options = onlyOnScreen | withoutDesktop
	}
	pool := Pool{API: a}
	defer pool.Drain()
	var windows []WindowInfo
	for _, entry := range a.Members(pool.Own(a.CGWindowListCopyWindowInfo(options, 0))) {
		number := func(dictionary Ref, key string) float64 {
			n, _ := a.NumberOf(a.Entry(dictionary, key))
			return n
		}
		bounds := a.Entry(entry, "kCGWindowBounds")
		windows = append(windows, WindowInfo{
			ID: int(number(entry, "kCGWindowNumber")), PID: int(number(entry, "kCGWindowOwnerPID")), Layer: int(number(entry, "kCGWindowLayer")),
			Owner: a.TextOf(a.Entry(entry, "kCGWindowOwnerName"), maxTitle), Title: a.TextOf(a.Entry(entry, "kCGWindowName"), maxTitle),
			Alpha: number(entry, "kCGWindowAlpha"),
			Frame: Rect{Point{number(bounds, "X"), number(bounds, "Y")}, Size{number(bounds, "Width"), number(bounds, "Height")}},
		})
	}
	return windows
}
