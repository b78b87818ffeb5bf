package devtools

import (
	"fmt"
	"regexp"
	"strings"
)

// An Endpoint is a browser that listens for DevTools.
type Endpoint struct {
	Name    string // of its program, such as "chromium"
	PID     int    // 0: unknown
	Profile string // folder
	Port    int
	path    string // of its WebSocket; another one at every start
}

// ID names this start of the browser.
func (e Endpoint) ID() string { return strings.TrimPrefix(e.path, browserPath) }

// String describes the browser for people.
func (e Endpoint) String() string {
	if e.PID == 0 {
		return fmt.Sprintf("%s (profile %s, port %d)", e.Name, e.Profile, e.Port)
	}
	return fmt.Sprintf("%s (process %d, profile %s, port %d)", e.Name, e.PID, e.Profile, e.Port)
}

func (e Endpoint) address() string { return fmt.Sprintf("ws://127.0.0.1:%d%s", e.Port, e.path) }

const browserPath = "/devtools/browser/"

// isBrowserPath reports whether path is that of a browser's WebSocket.
func isBrowserPath(path string) bool {
	return regexp.MustCompile(`^/devtools/browser/[0-9A-Za-z-]{8,64}$`).MatchString(path)
}
