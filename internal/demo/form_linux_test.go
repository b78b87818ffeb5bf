package demo

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"
)

func TestTheFormSaysWhatWasSubmitted(t *testing.T) {
	f, err := serveForm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if !strings.HasPrefix(f.address, "http://127.0.0.1:") {
		t.Errorf("it is served at %s, and not on this computer alone", f.address)
	}
	for path, part := range map[string]string{"": `<form method="post" action="/booked">`, "style.css": "body {"} {
		if status, body := get(t, http.MethodGet, f.address+path, nil); status != http.StatusOK || !strings.Contains(body, part) {
			t.Errorf("%q is %d %s", path, status, body)
		}
	}
	if status, _ := get(t, http.MethodGet, f.address+"openbox.xml", nil); status != http.StatusNotFound {
		t.Errorf("what is no page is %d", status)
	}
	want := url.Values{"name": {"Café Ωmega"}, "message": {"one\r\ntwo & three"}}
	for range 2 { // the second is dropped without blocking
		if status, body := get(t, http.MethodPost, f.address+"booked", want); status != http.StatusOK || !strings.Contains(body, "Thank you") {
			t.Errorf("booking is %d %s", status, body)
		}
	}
	got, err := f.wait(t.Context())
	if err != nil || got.Encode() != want.Encode() {
		t.Errorf("submitted was %v, got %v (%v)", want, got, err)
	}
}

func TestTheFormTakesNoMoreThanAForm(t *testing.T) {
	f, err := serveForm(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	defer f.close()
	if status, _ := get(t, http.MethodPost, f.address+"booked", url.Values{"message": {strings.Repeat("x", maxBooking)}}); status != http.StatusBadRequest {
		t.Errorf("a booking that is too long is %d", status)
	}
	select {
	case values := <-f.booked:
		t.Errorf("%d fields were booked all the same", len(values))
	default:
	}
}

func get(t *testing.T, method, address string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(b)
}
