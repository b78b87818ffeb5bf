package webapi

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"mime/multipart"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/rs/zerolog"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// written creates a file in a new folder.
func written(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
	return path
}

// TestParts checks a body of several parts: fields, lists, objects, a file and a kept result.
func TestParts(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	config := fast(plainClient(t))
	config.KeptResult = func(_ context.Context, call string, _ aai.Caller) ([]byte, error) {
		return []byte(`{"call":"` + call + `"}`), nil
	}
	r := recipe(s.URL, http.MethodPost, "/", "note", "tags", "meta", "file", "kept")
	r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", File: true, Media: "image/x-own"}, "kept": {In: "body", Name: "data", File: true}}
	run(t, compile(t, New(config), r), map[string]any{
		"note": "a\r\nb", "tags": []any{"x", "y"}, "meta": map[string]any{"n": 1},
		"file": written(t, `pic "1".png`, "\x00picture"), "kept": "result:c-1",
	})
	got := s.last(t)
	_, params, err := mime.ParseMediaType(got.Header.Get("Content-Type"))
	assert.NilError(t, err)
	var parts []string
	reader := multipart.NewReader(strings.NewReader(got.body), params["boundary"])
	for {
		part, err := reader.NextPart()
		if errors.Is(err, io.EOF) {
			break
		}
		assert.NilError(t, err)
		content, err := io.ReadAll(part)
		assert.NilError(t, err)
		parts = append(parts, part.FormName()+"|"+part.FileName()+"|"+part.Header.Get("Content-Type")+"|"+string(content))
	}
	want := "note|||a\r\nb\ntags|||x\ntags|||y\nmeta||application/json|{\"n\":1}\n" +
		"file|pic %221%22.png|image/x-own|\x00picture\ndata|result.json|application/json|{\"call\":\"c-1\"}"
	assert.Check(t, is.Equal(strings.Join(parts, "\n"), want))
}

// TestBodiesOfOtherTypes checks a body that is a file, and one that is a text.
func TestBodiesOfOtherTypes(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	for media, c := range map[string]struct {
		send  aai.SendRecipe
		value any
		want  string
	}{
		"application/octet-stream":          {aai.SendRecipe{In: "body", Whole: true, File: true}, written(t, "a.bin", "\x00\x01"), "\x00\x01"},
		"text/plain":                        {aai.SendRecipe{In: "body", Whole: true}, "zeile\nü", "zeile\nü"},
		"application/x-www-form-urlencoded": {aai.SendRecipe{In: "body", Whole: true}, map[string]any{"b": 2, "a": []any{"x", "&"}}, "a=x&a=%26&b=2"},
	} {
		r := recipe(s.URL, http.MethodPut, "/", "body")
		r.HTTP.Headers = map[string]string{"Content-Type": media}
		r.HTTP.Send = map[string]aai.SendRecipe{"body": c.send}
		run(t, compile(t, newDriver(t), r), map[string]any{"body": c.value})
		got := s.last(t)
		assert.Check(t, is.Equal(got.body, c.want), media)
		sent := got.Header.Get("Content-Type")
		assert.Check(t, is.Equal(sent, media), "%s is sent as %q", media, sent)
	}
}

// TestFilesThatAreNotSent checks that nothing is sent of files with credentials, of links and of
// paths that do not say which file they mean.
func TestFilesThatAreNotSent(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPut, "/", "file")
	r.HTTP.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", Whole: true, File: true}}
	master := written(t, "master", "x")
	again := filepath.Join(filepath.Dir(master), "again")
	assert.NilError(t, os.Link(master, again))
	config := fast(plainClient(t))
	config.SecretFiles = []string{master}
	action := compile(t, New(config), r)
	plain := written(t, "plain.txt", "x")
	link := filepath.Join(t.TempDir(), "link.txt")
	assert.NilError(t, os.Symlink(plain, link))
	for path, want := range map[string]string{
		written(t, ".ssh/known_hosts", "x"):                                                   "passwords or keys",
		written(t, "ID_RSA", "x"):                                                             "passwords or keys",
		written(t, "server.pem", "x"):                                                         "passwords or keys",
		written(t, "project/.env", "x"):                                                       "passwords or keys",
		written(t, "note.txt", "-----BEGIN OPENSSH PRIVATE KEY-----\n"):                       "passwords or keys",
		written(t, "photo.jpg", strings.Repeat("x", 900)+"-----BEGIN RSA PRIVATE KEY-----\n"): "passwords or keys",
		written(t, "gshadow-", "x"):                                                           "passwords or keys",
		written(t, "gh/hosts.yml", "x"):                                                       "passwords or keys",
		master:                                                                                "passwords or keys",
		again:                                                                                 "passwords or keys",
		link:                                                                                  "is a link",
		filepath.Dir(plain) + "/./plain.txt":                                                  "absolute path",
		"plain.txt":                                                                           "absolute path",
		filepath.Dir(plain):                                                                   "cannot be read",
		"/proc/self/environ":                                                                  "is no file of the person",
		filepath.Join(filepath.Dir(plain), "none"):                                            "no such file",
		"result:c-1":                                                                          "no results are kept",
	} {
		e := fail(t, action, map[string]any{"file": path}, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, is.Contains(e.Message, want), path)
	}
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 0), "%d requests were sent", n)
}

// TestFilesFromTheWeb checks that a descriptor from a site cannot ask for files.
func TestFilesFromTheWeb(t *testing.T) {
	r := recipe("https://api.example.com", http.MethodPut, "/", "file")
	r.HTTP.Origin = "https://example.com"
	r.HTTP.Headers = map[string]string{"Content-Type": "application/octet-stream"}
	r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", Whole: true, File: true}}
	_, err := newDriver(t).Compile(r)
	assert.Check(t, is.ErrorContains(err, "send.file.file"))
}

// TestFilesTogether checks that the files of one call have a limit together.
func TestFilesTogether(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", "ok"))
	r := recipe(s.URL, http.MethodPost, "/", "files")
	r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
	r.HTTP.Send = map[string]aai.SendRecipe{"files": {In: "body", File: true}}
	path := written(t, "big.bin", "")
	assert.NilError(t, os.Truncate(path, 30<<20))
	e := fail(t, compile(t, newDriver(t), r), map[string]any{"files": []any{path, path, path, path}}, aai.InvalidParams, aai.NotDelivered)
	assert.Check(t, is.Contains(e.Message, "more than 100 MiB together"))
}

// TestMediaTypes checks that a media type cannot add a header to a part.
func TestMediaTypes(t *testing.T) {
	for _, media := range []string{"image/png\r\nX-Inj: 1", "image/png;a=\"b\nc\"", "png"} {
		r := recipe("https://api.example.com", http.MethodPost, "/", "file")
		r.HTTP.Headers = map[string]string{"Content-Type": "multipart/form-data"}
		r.HTTP.Send = map[string]aai.SendRecipe{"file": {In: "body", File: true, Media: media}}
		_, err := newDriver(t).Compile(r)
		assert.Check(t, is.ErrorContains(err, "send.file.media"), "%q", media)
	}
}

// poisoned puts a proxy with the toxics before a server and returns its address. Each toxic is
// "upstream" or "downstream", its type, and its attributes as JSON.
func poisoned(t *testing.T, s *server, toxics ...[3]string) string {
	t.Helper()
	server := toxiproxy.NewServer(toxiproxy.NewMetricsContainer(prometheus.NewRegistry()), zerolog.Nop())
	proxy := toxiproxy.NewProxy(server, "site", "127.0.0.1:0", strings.TrimPrefix(s.URL, "http://"))
	assert.NilError(t, proxy.Start())
	t.Cleanup(proxy.Stop)
	for _, toxic := range toxics {
		source := fmt.Sprintf(`{"name": "%[2]s-%[1]s", "stream": %[1]q, "type": %[2]q, "toxicity": 1, "attributes": %[3]s}`, toxic[0], toxic[1], toxic[2])
		_, err := proxy.Toxics.AddToxicJson(strings.NewReader(source))
		assert.NilError(t, err, source)
	}
	return "http://" + proxy.Listen
}

// Every network failure has one code and one delivery.
func TestToxics(t *testing.T) {
	body := strings.Repeat("0123456789", 1000)
	const forever = time.Hour
	for _, c := range []struct {
		name     string
		method   string
		toxic    [3]string
		wait     time.Duration
		code     aai.Code // empty: success
		delivery aai.Delivery
		requests int // that reach the server
	}{
		{"latency that can be borne", http.MethodPost, [3]string{"downstream", "latency", `{"latency": 50, "jitter": 20}`}, forever, "", "", 1},
		{"latency beyond the deadline", http.MethodPost, [3]string{"downstream", "latency", `{"latency": 60000}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 1},
		{"latency on the way there", http.MethodPost, [3]string{"upstream", "latency", `{"latency": 60000}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 0},
		{"slices", http.MethodPost, [3]string{"downstream", "slicer", `{"average_size": 50, "size_variation": 20, "delay": 10}`}, forever, "", "", 1},
		{"slices of the request", http.MethodPost, [3]string{"upstream", "slicer", `{"average_size": 3, "size_variation": 1, "delay": 10}`}, forever, "", "", 1},
		{"bandwidth too small", http.MethodPost, [3]string{"downstream", "bandwidth", `{"rate": 1}`}, 2 * time.Second, aai.Timeout, aai.Delivered, 1},
		{"reset before the answer", http.MethodPost, [3]string{"downstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 1},
		{"reset of the request", http.MethodPost, [3]string{"upstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 0},
		{"reset of a request that reads", http.MethodGet, [3]string{"upstream", "reset_peer", `{"timeout": 0}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 0},
		{"cut off in the headers", http.MethodPost, [3]string{"downstream", "limit_data", `{"bytes": 20}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"cut off in the body", http.MethodPost, [3]string{"downstream", "limit_data", `{"bytes": 2000}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"cut off in the body of what reads", http.MethodGet, [3]string{"downstream", "limit_data", `{"bytes": 2000}`}, forever, aai.APIRequestFailed, aai.Delivered, 1},
		{"silence", http.MethodPost, [3]string{"downstream", "timeout", `{"timeout": 0}`}, time.Second, aai.Timeout, aai.DeliveryUnknown, 1},
		{"silence, then closed", http.MethodPost, [3]string{"downstream", "timeout", `{"timeout": 50}`}, forever, aai.APIRequestFailed, aai.DeliveryUnknown, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("Content-Type", "text/plain")
				w.Header().Set("Content-Length", fmt.Sprint(len(body)))
				_, _ = w.Write([]byte(body))
			})
			base := poisoned(t, s, c.toxic)
			action := compile(t, newDriver(t), recipe(base, c.method, "/", "a"))
			if c.code == "" {
				assert.Check(t, is.Equal(run(t, action, map[string]any{"a": body}).Text, body))
			} else {
				e := failIn(within(t, min(c.wait, 30*time.Second)), t, action, map[string]any{"a": "x"}, c.code, c.delivery)
				assert.Check(t, e.Hint != "", "%+v", e)
				assert.Check(t, !e.RetrySafe(), "%+v", e)
			}
			n := s.await(c.requests)
			assert.Check(t, is.Equal(n, c.requests), "%d requests have reached the server, want %d", n, c.requests)
		})
	}
}

// A proxy without a server accepts the connection and closes it, before or after the request is
// written: the reported delivery is correct.
func TestNobodyBehindTheProxy(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "", ""))
	base := poisoned(t, s)
	s.Close()
	_, err := compile(t, newDriver(t), recipe(base, http.MethodPost, "/"))(soon(t), &aai.Call{})
	e := aai.AsError(err)
	switch {
	case e != nil && e.Code == aai.AppNotRunning && e.Delivery == aai.NotDelivered:
	case e != nil && e.Code == aai.APIRequestFailed && e.Delivery == aai.DeliveryUnknown:
	default:
		t.Errorf("got %v", err)
	}
}

// A reading call with a lost connection is repeated.
func TestALostConnectionIsMadeAgain(t *testing.T) {
	var breaks atomic.Bool
	breaks.Store(true)
	s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
		if breaks.Swap(false) {
			conn, _, err := http.NewResponseController(w).Hijack()
			if err != nil {
				t.Error(err)
				return
			}
			_ = conn.Close()
			return
		}
		_, _ = w.Write([]byte("well"))
	})
	assert.Check(t, is.Equal(run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/")), nil).Text, "well"))
	assert.Check(t, is.Equal(len(s.requests()), 2))
	breaks.Store(true)
	fail(t, compile(t, newDriver(t), recipe(s.URL, http.MethodPut, "/")), nil, aai.APIRequestFailed, aai.DeliveryUnknown)
	n := len(s.requests())
	assert.Check(t, is.Equal(n, 3), "what changes something was sent again: %d requests", n-2)
}
