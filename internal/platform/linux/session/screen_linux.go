package session

import (
	"context"
	"errors"
	"fmt"
	"net"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// xSockets is the prefix of the sockets of local X servers.
const xSockets = "/tmp/.X11-unix/X"

// A screenLookup is one lookup of the screen.
type screenLookup struct {
	*Detector
	*lookup

	ctx     context.Context
	tried   map[[2]string]bool
	screen  Value // DISPLAY
	cookie  Value
	wayland Value // WAYLAND_DISPLAY
}

// lookForScreen looks up the display that accepts a connection, and its related variables.
func (r *Detector) lookForScreen() *lookup {
	// Several servers may hang; the first ones are the likeliest.
	ctx, cancel := context.WithTimeout(context.Background(), 2*r.cfg.Patience)
	defer cancel()
	l := &screenLookup{Detector: r, lookup: &lookup{}, ctx: ctx, tried: map[[2]string]bool{}}
	own := environment{map[string]string{}, ownEnvironment}
	for _, v := range r.ownValues(screenNames()...) {
		own.values[v.Name] = v.Value
	}
	if r.cfg.Choice == "" {
		l.tryDisplay(own.values[displayName], own.from, []environment{own})
		l.tryWayland(own)
	}
	envs := []environment{own}
	if !r.isPrivate() && l.screen.Value == "" {
		envs = append(envs, l.searchElsewhere(own)...)
	}
	l.finish(envs)
	return l.lookup
}

// searchElsewhere searches the other sources if the own environment has no screen. It
// returns the environments that may describe the screen.
func (l *screenLookup) searchElsewhere(own environment) []environment {
	f := l.facts()
	envs := f.environments()
	if f.remote {
		envs = f.programs // other users' screens are not of this session
		l.refuse("other seats", "login1", errors.New("this session is from afar, and nobody sits there; desktop.session "+
			"may choose one"))
	}
	if id := l.cfg.Choice; f.login == nil && byID(id) {
		l.refuse(strconv.Quote(id), "desktop.session", noSession(f))
		return nil
	}
	cookies := append([]environment{own}, envs...)
	if f.login != nil && f.login.display != "" && byID(l.cfg.Choice) {
		envs = onDisplay(envs, f.login.display)
	}
	if display := l.cfg.Choice; strings.HasPrefix(display, ":") {
		envs = onDisplay(envs, display)
		l.tryDisplay(display, "desktop.session", cookies)
	}
	if f.login != nil && f.login.display != "" {
		l.tryDisplay(f.login.display, "login1's session "+label(f.login.ID), cookies)
	}
	for _, env := range envs {
		l.tryDisplay(env.values[displayName], env.from, append([]environment{env}, cookies...))
		l.tryWayland(env)
	}
	if l.screen.Value == "" && l.wayland.Value == "" && f.mayShowWayland() && !strings.HasPrefix(l.cfg.Choice, ":") {
		l.searchFolder()
	}
	if f.login != nil {
		envs = append(envs, environment{map[string]string{typeName: f.login.Type, desktopName: f.login.desktop},
			"login1's session " + label(f.login.ID)})
	}
	return envs
}

// byID reports whether the person's choice is the ID of a session.
func byID(choice string) bool {
	return choice != "" && choice != ChoiceAnySeat && !strings.HasPrefix(choice, ":")
}

// noSession returns the error for a chosen session that does not exist.
func noSession(f *facts) error {
	if f.login1Err != nil {
		return errors.New("login1 does not say which sessions there are")
	}
	return errors.New("there is no such session of this user")
}

// onDisplay returns the environments with the display.
func onDisplay(envs []environment, display string) []environment {
	return slices.DeleteFunc(slices.Clone(envs), func(e environment) bool {
		return displayNumber(e.values[displayName]) != displayNumber(display)
	})
}

// finish stores the results. The session type and the desktop's name come from the first
// environment that has them.
func (l *screenLookup) finish(envs []environment) {
	for _, v := range []Value{l.screen, l.cookie, l.wayland} {
		if v.Value != "" {
			l.values = append(l.values, v)
		}
	}
	for _, name := range []string{typeName, desktopName} {
		for _, env := range envs {
			if value := env.values[name]; value != "" && isPlainValue(value) {
				l.values = append(l.values, Value{name, value, env.from})
				break
			}
		}
	}
	switch number := displayNumber(l.screen.Value); {
	case number != "":
		path := xSockets + number
		if _, _, err := idOf(path); err != nil {
			path = "@" + path
		}
		l.alive = socketAlive(path)
	case l.screen.Value == "" && l.wayland.Value != "":
		l.alive = socketAlive(l.waylandPath(l.wayland.Value))
	}
}

// tryDisplay chooses the display if it accepts one of the cookies. It tries the cookies of
// environments with the same display or none, and the default one.
func (l *screenLookup) tryDisplay(display, from string, envs []environment) {
	if display == "" || l.screen.Value != "" {
		return
	}
	own := from == ownEnvironment
	if displayNumber(display) == "" && !own {
		l.refuse(display, from, errors.New("it is no display of this computer"))
		return
	}
	var why error
	for _, cookie := range append(cookiesOf(envs, display), Value{Name: cookieName, From: from}) {
		if cookie.Value != "" && !filepath.IsAbs(cookie.Value) || l.tried[[2]string{display, cookie.Value}] {
			continue
		}
		l.tried[[2]string{display, cookie.Value}] = true
		if why = l.accepts(display, cookie.Value, own); why == nil {
			l.screen, l.cookie = Value{displayName, display, from}, cookie
			return
		}
	}
	if why != nil {
		l.refuse(display, from, why)
	}
}

// cookiesOf returns the cookie files in the environments for the display.
func cookiesOf(envs []environment, display string) []Value {
	var found []Value
	for _, env := range envs {
		value, of := env.values[cookieName], env.values[displayName]
		same := of == "" || displayNumber(of) == displayNumber(display)
		if value != "" && same && !slices.ContainsFunc(found, func(v Value) bool { return v.Value == value }) {
			found = append(found, Value{cookieName, value, env.from})
		}
	}
	return found
}

// accepts returns an error if the X server is not valid or refuses the cookie.
func (l *screenLookup) accepts(display, cookie string, own bool) error {
	if l.cfg.CheckX11 == nil {
		return errors.New("X11 is not spoken here")
	}
	if err := l.ctx.Err(); err != nil {
		return errors.New("there was no time left to try it")
	}
	ctx, cancel := context.WithTimeout(l.ctx, l.cfg.Patience)
	defer cancel()
	getenv := func(name string) string {
		switch name {
		case displayName:
			return display
		case cookieName:
			return cookie
		}
		return l.cfg.Getenv(name)
	}
	return l.cfg.CheckX11(ctx, getenv, func(socket net.Conn) error {
		if _, local := socket.(*net.UnixConn); !local && own {
			return nil // such as a screen forwarded by SSH: it is in the own environment
		}
		return l.checkPeer(socket)
	})
}

// tryWayland chooses the environment's compositor if it is valid.
func (l *screenLookup) tryWayland(env environment) {
	name := env.values[waylandName]
	if name == "" || l.wayland.Value != "" {
		return
	}
	path := l.waylandPath(name)
	if path == "" {
		l.refuse(name, env.from, errors.New("there is no folder of the login for it"))
		return
	}
	if err := l.checkSocket(l.ctx, path); err != nil {
		l.refuse(name, env.from, err)
		return
	}
	l.wayland = Value{waylandName, name, env.from}
}

// mayShowWayland reports whether login1 permits a compositor that no program names as the screen: the session of this
// process is not a remote one, and not one of X11.
func (f *facts) mayShowWayland() bool {
	return !f.remote && (f.login == nil || !f.login.graphical() || f.login.Type == "wayland")
}

// searchFolder chooses the compositor in the runtime folder if it is the only valid one there.
func (l *screenLookup) searchFolder() {
	folder, err := l.userFolder()
	if err != nil {
		return
	}
	paths, _ := filepath.Glob(filepath.Join(folder, "wayland-*")) // the pattern is valid
	var valid []string
	for _, path := range paths {
		if _, err := strconv.ParseUint(strings.TrimPrefix(filepath.Base(path), "wayland-"), 10, 15); err != nil {
			continue
		}
		if err := l.checkSocket(l.ctx, path); err != nil {
			l.refuse(filepath.Base(path), folder, err)
			continue
		}
		valid = append(valid, path)
	}
	switch {
	case len(valid) > 1:
		for _, path := range valid {
			l.refuse(filepath.Base(path), folder, fmt.Errorf("%d compositors run here, and WAYLAND_DISPLAY names none of them", len(valid)))
			l.unchosen = append(l.unchosen, filepath.Base(path))
		}
	case len(valid) == 1 && l.Getenv(folderName) == folder:
		l.wayland = Value{waylandName, filepath.Base(valid[0]), folder}
	case len(valid) == 1:
		l.wayland = Value{waylandName, valid[0], folder}
	}
}

// waylandPath returns the path of the compositor's socket, or "".
func (r *Detector) waylandPath(name string) string {
	if filepath.IsAbs(name) {
		return name
	}
	folder := r.Getenv(folderName)
	if folder == "" || name != filepath.Base(name) {
		return ""
	}
	return filepath.Join(folder, name)
}

// displayNumber returns the number of a local display, such as "0" for ":0.0", or "" for
// any other.
func displayNumber(display string) string {
	number, _, _ := strings.Cut(strings.TrimPrefix(display, "unix"), ".")
	digits, ok := strings.CutPrefix(number, ":")
	if n, err := strconv.ParseUint(digits, 10, 15); ok && err == nil {
		return strconv.FormatUint(n, 10)
	}
	return ""
}
