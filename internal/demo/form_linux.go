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

// bookingForm is a local web page with a form. It keeps the submitted values, as proof of the
// agent's work.
type bookingForm struct {
	address string
	server  *http.Server
	booked  chan url.Values
}

// hasBrowser reports whether a usable Chromium is installed. Ubuntu's snap has no access to the
// demo's home and buses.
func hasBrowser() bool {
	path, err := exec.LookPath("chromium")
	return err == nil && !strings.HasPrefix(path, "/snap/")
}

// maxBooking limits a submitted form, in bytes.
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
		_, _ = w.Write(file(name)) // the browser may have stopped reading
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

// wait waits for a submission and returns its values.
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
