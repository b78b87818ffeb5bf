package web

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
)

// desktopPage shows an isolated session with its live picture. The person takes it over there, and gives it back.
func desktopPage() page {
	return page{
		name: "desktop", path: "/desktops/{id}", live: []string{EventDesktops}, show: showDesktop,
		acts: map[string]act{"take": changeDesktop("session_take"), "give": changeDesktop("session_give"), "input": sendInput},
	}
}

// desktopPageData is the template data of desktopPage.
type desktopPageData struct {
	answer.Session

	IsEnded bool
	Keys    []string
	Clicks  []string
}

// Subject returns the command or agent of the session, for the page's title.
func (d desktopPageData) Subject() string { return d.Label }

// desktops returns the isolated sessions that run. Pages work without them.
func (v *pageRequest) desktops() (running []answer.Session) {
	if v.door.watchSession == nil || v.read("session_list", nil, &running) != nil {
		return nil
	}
	return running
}

func showDesktop(v *pageRequest) (any, error) {
	running, id := v.desktops(), v.pathValue("id")
	i := slices.IndexFunc(running, func(s answer.Session) bool { return s.ID == id })
	if i < 0 {
		return desktopPageData{IsEnded: true}, nil
	}
	return desktopPageData{Session: running[i], Keys: desktopKeys(), Clicks: []string{"left", "double", "right"}}, nil
}

// desktopKeys returns the keys that have a button.
func desktopKeys() []string {
	return []string{"return", "tab", "escape", "backspace", "delete", "up", "down", "left", "right", "home", "end", "page_up", "page_down"}
}

// changeDesktop returns the act that calls the tool with the session of the page.
func changeDesktop(tool string) act {
	return func(v *pageRequest) (any, error) {
		_, err := v.call(tool, map[string]any{"id": v.pathValue("id")})
		if err == nil {
			v.door.events.publish(EventDesktops)
		}
		return nil, err
	}
}

// sendInput sends the click, the text or the key of the form.
func sendInput(v *pageRequest) (any, error) {
	args := map[string]any{"id": v.pathValue("id")}
	for field, name := range map[string]string{"at.x": "x", "at.y": "y"} {
		if n, err := strconv.Atoi(v.form.Get(field)); err == nil {
			args[name] = n
		}
	}
	for _, name := range []string{"text", "key"} {
		if value := v.form.Get(name); value != "" {
			args[name] = value
		}
	}
	switch kind := v.form.Get("click"); kind {
	case "double":
		args["count"] = 2
	case "middle", "right":
		args["button"] = kind
	}
	if held := v.form["modifier"]; len(held) > 0 {
		args["modifiers"] = held
	}
	_, err := v.call("session_input", args)
	return nil, err
}

const (
	// maxScreens limits the pictures that a browser session watches at a time; see maxStreams.
	maxScreens = 2
	// loginCheck is the interval at which a stream of pictures checks the login.
	loginCheck = 5 * time.Second
)

// streamScreen serves the live picture of a session. It ends with the session, with the login, and when newer pages use
// all streams.
func (d *Door) streamScreen(w http.ResponseWriter, r *http.Request, v *pageRequest) {
	if r.Method == http.MethodHead || d.watchSession == nil {
		http.NotFound(w, r)
		return
	}
	httpdoor.FromContext(r.Context()).MarkStreaming()
	goes, left := d.screens.add(v.session, maxScreens)
	defer left()
	ctx, cancel := context.WithCancel(r.Context())
	defer cancel()
	go func() {
		defer cancel()
		d.awaitLogout(r, v.session, goes)
	}()
	control, boundary := http.NewResponseController(w), random(18)
	// Browsers show a picture when they have read the head of the part after it.
	head := "--" + boundary + "\r\nContent-Type: image/png\r\n\r\n"
	var last []byte
	err := d.watchSession(ctx, r.PathValue("id"), func(png []byte) error {
		_ = control.SetWriteDeadline(time.Now().Add(streamWriteTimeout)) // fails only for writers of tests
		before := ""
		if last == nil {
			w.Header().Set("Content-Type", "multipart/x-mixed-replace; boundary="+boundary)
			before = head
		}
		last = png
		if _, err := fmt.Fprintf(w, "%s%s\r\n%s", before, png, head); err != nil {
			return err
		}
		return control.Flush()
	})
	if err != nil && last == nil && ctx.Err() == nil {
		http.NotFound(w, r)
		return
	}
	_, _ = fmt.Fprintf(w, "%s\r\n--%s--\r\n", last, boundary) // fails if the browser has disconnected
	if ctx.Err() == nil {
		d.events.publish(EventDesktops) // the session has ended
	}
}

// awaitLogout waits until the request or its login has ended, or goes is closed.
func (d *Door) awaitLogout(r *http.Request, of *session, goes <-chan struct{}) {
	ticks := time.NewTicker(loginCheck)
	defer ticks.Stop()
	for d.sessions.find(r, d.now()) == of {
		select {
		case <-r.Context().Done():
			return
		case <-goes:
			return
		case <-ticks.C:
		}
	}
}
