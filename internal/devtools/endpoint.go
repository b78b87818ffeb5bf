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
	Profile string // folder; "": unknown
	Port    int    // 0: only this process can use it, by a pipe
	Asks    bool   // it asks the person itself, at each connection
	path    string // of its WebSocket; another one at every start
}

// Key names the browser for people and agents: its profile folder, or its program and port.
func (e Endpoint) Key() string {
	if e.Profile == "" {
		return fmt.Sprintf("%s:%d", e.Name, e.Port)
	}
	return e.Profile
}

// ID names this start of the browser.
func (e Endpoint) ID() string { return strings.TrimPrefix(e.path, browserPath) }

// String describes the browser for people.
func (e Endpoint) String() string {
	var parts []string
	if e.PID != 0 {
		parts = append(parts, fmt.Sprintf("process %d", e.PID))
	}
	if e.Profile != "" {
		parts = append(parts, "profile "+e.Profile)
	}
	if e.Port != 0 {
		parts = append(parts, fmt.Sprintf("port %d", e.Port))
	}
	return fmt.Sprintf("%s (%s)", e.Name, strings.Join(parts, ", "))
}

func (e Endpoint) address() string { return fmt.Sprintf("ws://127.0.0.1:%d%s", e.Port, e.path) }

const browserPath = "/devtools/browser/"

// isBrowserPath reports whether path is that of a browser's WebSocket.
func isBrowserPath(path string) bool {
	return regexp.MustCompile(`^/devtools/browser/[0-9A-Za-z-]{8,64}$`).MatchString(path)
}
