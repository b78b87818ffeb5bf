package demo

import (
	"io"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

func TestTheFormSaysWhatWasSubmitted(t *testing.T) {
	f, err := serveForm(t.Context())
	assert.NilError(t, err)
	defer f.close()
	assert.Check(t, strings.HasPrefix(f.address, "http://127.0.0.1:"), "it is served at %s, and not on this computer alone", f.address)
	for path, part := range map[string]string{"": `<form method="post" action="/booked">`, "style.css": "body {"} {
		status, body := get(t, http.MethodGet, f.address+path, nil)
		assert.Check(t, is.Equal(status, http.StatusOK), "%q", path)
		assert.Check(t, is.Contains(body, part), "%q", path)
	}
	status, _ := get(t, http.MethodGet, f.address+"openbox.xml", nil)
	assert.Check(t, is.Equal(status, http.StatusNotFound), "what is no page is %d", status)
	want := url.Values{"name": {"Café Ωmega"}, "message": {"one\r\ntwo & three"}}
	for range 2 { // the second is dropped without blocking
		status, body := get(t, http.MethodPost, f.address+"booked", want)
		assert.Check(t, is.Equal(status, http.StatusOK))
		assert.Check(t, is.Contains(body, "Thank you"))
	}
	got, err := f.wait(t.Context())
	assert.NilError(t, err, "%v %v", want, got)
	assert.Equal(t, got.Encode(), want.Encode(), "%v %v", want, got)
}

func TestTheFormTakesNoMoreThanAForm(t *testing.T) {
	f, err := serveForm(t.Context())
	assert.NilError(t, err)
	defer f.close()
	status, _ := get(t, http.MethodPost, f.address+"booked", url.Values{"message": {strings.Repeat("x", maxBooking)}})
	assert.Check(t, is.Equal(status, http.StatusBadRequest), "a booking that is too long is %d", status)
	select {
	case values := <-f.booked:
		t.Errorf("%d fields were booked all the same", len(values))
	default:
	}
}

func get(t *testing.T, method, address string, form url.Values) (status int, body string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, address, strings.NewReader(form.Encode()))
	assert.NilError(t, err)
	request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	response, err := http.DefaultClient.Do(request)
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	b, err := io.ReadAll(response.Body)
	assert.NilError(t, err)
	return response.StatusCode, string(b)
}
