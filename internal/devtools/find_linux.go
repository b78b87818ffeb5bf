package devtools

import (
	"bufio"
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// profileFolders are the folders of browsers' default profiles, below the configuration folder.
func profileFolders() []string {
	return []string{"chromium", "google-chrome", "google-chrome-beta", "google-chrome-unstable", "microsoft-edge", "BraveSoftware/Brave-Browser", "vivaldi", "opera"}
}

// portFile is the file in a profile in which a browser writes its port and its path.
const portFile = "DevToolsActivePort"

// Find returns the browsers of this account that listen for DevTools, ordered by name and process. An address counts
// only if a process of this account listens there.
func Find(getenv func(string) string) []Endpoint {
	listeners := ownListeners()
	var found []Endpoint
	seen := map[string]bool{}
	add := func(e Endpoint, ok bool) {
		if ok && listeners[e.Port] && !seen[e.path] {
			seen[e.path] = true
			found = append(found, e)
		}
	}
	commands, _ := filepath.Glob("/proc/[0-9]*/cmdline")
	for _, file := range commands {
		pid, err := strconv.Atoi(filepath.Base(filepath.Dir(file)))
		if err != nil || !isOwn(file) {
			continue
		}
		e, ok := debuggedBrowser(file)
		e.PID = pid
		switch {
		case !ok:
		case e.Profile != "" && e.readPortFile():
			add(e, true)
		case listeners[e.Port]:
			e.Profile = "" // of programs with a part of Chromium it is not known
			add(e, e.readVersion())
		}
	}
	config := cmp.Or(getenv("XDG_CONFIG_HOME"), filepath.Join(getenv("HOME"), ".config"))
	for _, folder := range profileFolders() {
		e := Endpoint{Name: filepath.Base(folder), Profile: filepath.Join(config, folder), Asks: true}
		e.PID = lockHolder(e.Profile)
		add(e, e.readPortFile())
	}
	slices.SortFunc(found, func(a, b Endpoint) int { return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.PID, b.PID)) })
	return found
}

// debuggedBrowser returns the name, the profile and the port of a browser, or of a program with a part of Chromium, that
// was started with a port for DevTools. Its child processes have a type.
func debuggedBrowser(cmdline string) (e Endpoint, ok bool) {
	text, err := os.ReadFile(cmdline)
	if err != nil {
		return e, false
	}
	for i, arg := range arguments(string(text)) {
		name, value, _ := strings.Cut(arg, "=")
		switch {
		case i == 0:
			e.Name = filepath.Base(arg)
		case name == "--remote-debugging-port":
			e.Port, err = strconv.Atoi(value)
			ok = err == nil
		case name == "--user-data-dir":
			if e.Profile = existing(value); !filepath.IsAbs(e.Profile) {
				e.Profile = ""
			}
		case name == "--type":
			return e, false
		}
	}
	return e, ok
}

// arguments splits a command line. Chromium with windows writes its own anew, with blanks between the arguments.
func arguments(line string) []string {
	args := strings.FieldsFunc(line, func(r rune) bool { return r == 0 })
	if len(args) != 1 {
		return args
	}
	args = strings.Split(args[0], " --")
	for i := range args[1:] {
		args[i+1] = "--" + args[i+1]
	}
	return args
}

// existing returns the longest beginning of text, up to a blank, that is a folder; "" if none is.
func existing(text string) string {
	for text != "" {
		if info, err := os.Stat(text); err == nil && info.IsDir() {
			return text
		}
		text = text[:max(0, strings.LastIndex(text, " "))]
	}
	return ""
}

// lockHolder returns the process of the browser that has the profile, by its lock, a link to "host-process"; 0: unknown.
func lockHolder(profile string) int {
	holder, err := os.Readlink(filepath.Join(profile, "SingletonLock"))
	if err != nil {
		return 0
	}
	pid, _ := strconv.Atoi(holder[strings.LastIndex(holder, "-")+1:])
	return pid
}

// readPortFile reads the port and the path of the browser's WebSocket from its profile.
func (e *Endpoint) readPortFile() bool {
	file := filepath.Join(e.Profile, portFile)
	text, err := os.ReadFile(file)
	if err != nil || len(text) > 1000 || !isOwn(file) {
		return false
	}
	first, path, _ := strings.Cut(strings.TrimSpace(string(text)), "\n")
	port, err := strconv.Atoi(strings.TrimSpace(first))
	if path = strings.TrimSpace(path); err != nil || port <= 0 || port >= 1<<16 || !isBrowserPath(path) {
		return false
	}
	e.Port, e.path = port, path
	return true
}

// readVersion reads the path of the WebSocket from a program that writes no file, such as one of Electron or QtWebEngine.
func (e *Endpoint) readVersion() bool {
	const patience, most = 300 * time.Millisecond, 1 << 14
	client := &http.Client{Timeout: patience, Transport: &http.Transport{Proxy: nil, DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(context.Background(), http.MethodGet, fmt.Sprintf("http://127.0.0.1:%d/json/version", e.Port), http.NoBody)
	if err != nil {
		return false
	}
	r, err := client.Do(request)
	if err != nil {
		return false
	}
	defer func() { _ = r.Body.Close() }()
	var version struct {
		Address string `json:"webSocketDebuggerUrl"`
	}
	if json.NewDecoder(io.LimitReader(r.Body, most)).Decode(&version) != nil {
		return false
	}
	// Only the path is the program's word.
	address, err := url.Parse(version.Address)
	if err != nil || !isBrowserPath(address.Path) {
		return false
	}
	e.path = address.Path
	return true
}

// isOwn reports whether the file belongs to this account.
func isOwn(file string) bool {
	info, err := os.Stat(file)
	if err != nil {
		return false
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	return ok && int(stat.Uid) == os.Getuid()
}

// ownListeners returns the ports of the IPv4 loopback interface on which processes of this account listen, by the
// kernel's table, /proc/net/tcp.
func ownListeners() map[int]bool {
	const (
		loopback  = "0100007F"
		listening = "0A"
	)
	ports := map[int]bool{}
	table, err := os.ReadFile("/proc/net/tcp")
	if err != nil {
		return ports
	}
	uid := fmt.Sprint(os.Getuid())
	for lines := bufio.NewScanner(bytes.NewReader(table)); lines.Scan(); {
		fields := strings.Fields(lines.Text())
		if len(fields) < 8 || fields[3] != listening || fields[7] != uid {
			continue
		}
		if address, port, ok := strings.Cut(fields[1], ":"); ok && address == loopback {
			if n, err := strconv.ParseInt(port, 16, 32); err == nil {
				ports[int(n)] = true
			}
		}
	}
	return ports
}
