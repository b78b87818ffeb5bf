package demo

import (
	"context"
	"errors"
	"net"
	"net/http"
	"net/url"
	"os/exec"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/sampleapp"
)

// A bookingForm is a web page on this computer with a form, and what was submitted
// by it: the form's own word of what an agent did.
type bookingForm struct {
	address string
	server  *http.Server
	booked  chan url.Values
}

// hasBrowser reports whether there is a Chromium that can be seen: one in a snap,
// as Ubuntu has it, is shut off from the demo's home and buses.
func hasBrowser() bool {
	path, err := exec.LookPath("chromium")
	return err == nil && !strings.HasPrefix(path, "/snap/")
}

// maxBooking is how many bytes a submitted form may have.
const maxBooking = 64 << 10

func serveForm(ctx context.Context) (*bookingForm, error) {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", "127.0.0.1:0")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the demo's web page cannot be served: %w", err)
	}
	f := &bookingForm{address: "http://" + listener.Addr().String() + "/", booked: make(chan url.Values, 1)}
	pages := http.NewServeMux()
	pages.HandleFunc("GET /{$}", page("form.html", "text/html; charset=utf-8"))
	pages.HandleFunc("GET /style.css", sampleapp.Style)
	pages.HandleFunc("POST /booked", f.book)
	f.server = &http.Server{Handler: pages, ReadTimeout: startTimeout, WriteTimeout: startTimeout}
	go func() { _ = f.server.Serve(listener) }() // until close
	return f, nil
}

func (f *bookingForm) close() { _ = f.server.Close() }

func page(name, kind string) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		_, _ = w.Write(file(name)) // whether the browser still reads is its concern
	}
}

func (f *bookingForm) book(w http.ResponseWriter, r *http.Request) {
	r.Body = http.MaxBytesReader(w, r.Body, maxBooking)
	if err := r.ParseForm(); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	select {
	case f.booked <- r.PostForm:
	default: // one booking is enough
	}
	page("booked.html", "text/html; charset=utf-8")(w, r)
}

// wait returns what was submitted.
func (f *bookingForm) wait(ctx context.Context) (url.Values, error) {
	select {
	case values := <-f.booked:
		return values, nil
	case <-time.After(startTimeout):
		return nil, errors.New("nothing was submitted")
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}
